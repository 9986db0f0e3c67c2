// Signs deliveries with the providers' own libraries. Input: a JSON list of
// {scheme, secret, id, timestamp, body}; output: a JSON list of the headers of
// each, in the same order.
import { readFileSync } from 'node:fs';
import { Webhooks } from '@octokit/webhooks';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

const stripe = new Stripe('sk_test_unused');

const schemes = {
  github: async ({ secret, body }) => ({
    'X-Hub-Signature-256': await new Webhooks({ secret }).sign(body),
  }),
  stripe: async ({ secret, body, timestamp }) => ({
    'Stripe-Signature': stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp }),
  }),
  'standard-webhooks': async ({ secret, body, id, timestamp }) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': new Webhook(secret).sign(id, new Date(timestamp * 1000), body),
  }),
};

const deliveries = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(await Promise.all(deliveries.map((d) => schemes[d.scheme](d)))));
