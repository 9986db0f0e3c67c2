// Does with jsforce what integrations do, against the org at SIM_URL, and
// prints what it saw as one JSON object. Anything unexpected ends it with an
// error; what the values must be is judged by the test that runs it.
import jsforce from 'jsforce';

const url = process.env.SIM_URL;
const version = '65.0';
const soapVersion = '64.0'; // the last one whose SOAP API has login()
const seen = {};

/** The code of the error that a promise ends with. */
async function refusal(promise) {
  try {
    await promise;
  } catch (e) {
    return e.errorCode ?? /^[A-Z_]+(?=:)/.exec(e.message)?.[0] ?? e.name;
  }
  return 'none';
}

async function logins() {
  const byClient = new jsforce.Connection({
    instanceUrl: url, version,
    oauth2: { loginUrl: url, clientId: 'sim', clientSecret: 'sim' },
  });
  await byClient.authorize({ grant_type: 'client_credentials' });
  seen.clientCredentials = (await byClient.query('SELECT COUNT() FROM Payment__c')).totalSize;
  seen.wrongSecret = await refusal(new jsforce.Connection({
    instanceUrl: url, version,
    oauth2: { loginUrl: url, clientId: 'sim', clientSecret: 'wrong' },
  }).authorize({ grant_type: 'client_credentials' }));

  const bySoap = new jsforce.Connection({ loginUrl: url, version: soapVersion });
  const user = await bySoap.login('hook@acme.example', 'sim');
  const identity = await bySoap.identity();
  seen.soap = {
    sameUser: user.id === identity.user_id,
    sameOrg: user.organizationId === identity.organization_id,
    rows: (await bySoap.query('SELECT COUNT() FROM Payment__c')).totalSize,
  };
  seen.wrongPassword = await refusal(new jsforce.Connection({ loginUrl: url, version: soapVersion }).login('hook@acme.example', 'wrong'));
  seen.retiredLogin = await refusal(new jsforce.Connection({ loginUrl: url, version }).login('hook@acme.example', 'sim'));
  seen.endedSession = await refusal(new jsforce.Connection({ instanceUrl: url, version, accessToken: 'none' }).query('SELECT Id FROM Payment__c'));
  return byClient;
}

async function describe(conn) {
  const payment = await conn.sobject('Payment__c').describe();
  const field = (name) => payment.fields.find((f) => f.name === name);
  const status = field('Status__c');
  const key = field('Stripe_Charge_Id__c');
  const amount = field('Amount__c');
  seen.describe = {
    status: { type: status.type, restricted: status.restrictedPicklist, values: status.picklistValues.map((v) => v.value) },
    key: { type: key.type, length: key.length, externalId: key.externalId, unique: key.unique, caseSensitive: key.caseSensitive },
    amount: { type: amount.type, precision: amount.precision, scale: amount.scale },
    customer: { type: field('Customer__c').type, to: field('Customer__c').referenceTo, relationship: field('Customer__c').relationshipName },
    global: (await conn.describeGlobal()).sobjects.map((s) => s.name).filter((n) => n.endsWith('__c')).sort(),
  };
}

async function rows(conn) {
  const payments = conn.sobject('Payment__c');
  const created = await payments.create({ Stripe_Charge_Id__c: 'ch_one', Amount__c: 12.5, Status__c: 'Pending', Note__c: 'naïve – 金' });
  const read = await payments.retrieve(created.id);
  const updated = await payments.update({ Id: created.id, Status__c: 'Succeeded' });
  const upserted = await payments.upsert({ Stripe_Charge_Id__c: 'ch_one', Amount__c: 13 }, 'Stripe_Charge_Id__c');
  const [after] = await payments.find({ Stripe_Charge_Id__c: 'ch_one' }, ['Amount__c', 'Status__c']);
  const doubled = await refusal(payments.create({ Stripe_Charge_Id__c: 'ch_one' }));
  const unknown = await refusal(payments.create({ Nothing__c: 1 }));
  const deleted = await payments.destroy(created.id);
  seen.rows = {
    created: created.success, read: { amount: read.Amount__c, note: read.Note__c }, updated: updated.success,
    upserted: { success: upserted.success, created: upserted.created },
    after: { amount: after.Amount__c, status: after.Status__c }, doubled, unknown, deleted: deleted.success,
    gone: await refusal(payments.retrieve(created.id)),
  };
}

const plain = (results) => results.map((r) => ({
  success: r.success, created: r.created, code: r.errors?.[0]?.statusCode, fields: r.errors?.[0]?.fields,
}));

async function arrays(conn) {
  const payments = conn.sobject('Payment__c');
  seen.arrayInsert = plain(await payments.create([
    { Stripe_Charge_Id__c: 'ch_a', Amount__c: 1 },
    { Stripe_Charge_Id__c: 'ch_b', Status__c: 'Nonsense' },
    { Stripe_Charge_Id__c: 'ch_c', Amount__c: 3 },
  ]));
  seen.arrayUpsert = plain(await payments.upsert([
    { Stripe_Charge_Id__c: 'ch_a', Amount__c: 10 },
    { Stripe_Charge_Id__c: 'ch_d', Currency__c: 'FOUR' },
    { Stripe_Charge_Id__c: 'ch_e', Amount__c: 5 },
  ], 'Stripe_Charge_Id__c'));
  seen.allOrNone = plain(await payments.create([
    { Stripe_Charge_Id__c: 'ch_f' }, { Stripe_Charge_Id__c: 'ch_a' },
  ], { allOrNone: true }));
  seen.arrayRows = (await conn.query("SELECT Stripe_Charge_Id__c, Amount__c FROM Payment__c ORDER BY Stripe_Charge_Id__c"))
    .records.map((r) => [r.Stripe_Charge_Id__c, r.Amount__c]);
}

async function bulk(conn) {
  conn.bulk2.pollInterval = 100;
  conn.bulk2.pollTimeout = 60000;
  const input = Array.from({ length: 2500 }, (_, i) => ({
    Stripe_Customer_Id__c: `cus_${String(i).padStart(4, '0')}`, Email__c: i === 7 ? 'not an address' : `c${i}@example.com`,
  }));
  const inserted = await conn.bulk2.loadAndWaitForResults({ object: 'Customer__c', operation: 'insert', input });
  seen.bulkInsert = {
    successful: inserted.successfulResults.length, failed: inserted.failedResults.map((r) => ({ key: r.Stripe_Customer_Id__c, error: r.sf__Error })),
    unprocessed: inserted.unprocessedRecords.length, created: inserted.successfulResults.every((r) => r.sf__Created === 'true'),
  };
  const upserted = await conn.bulk2.loadAndWaitForResults({
    object: 'Customer__c', operation: 'upsert', externalIdFieldName: 'Stripe_Customer_Id__c',
    input: [
      { Stripe_Customer_Id__c: 'cus_0000', Email__c: 'quoted"and,comma@example.com' },
      { Stripe_Customer_Id__c: 'cus_0001', Email__c: 'first@example.com' },
      { Stripe_Customer_Id__c: 'cus_new', Email__c: 'new@example.com' },
    ],
  });
  seen.bulkUpsert = {
    successful: upserted.successfulResults.map((r) => [r.Stripe_Customer_Id__c, r.sf__Created]),
    failed: upserted.failedResults.map((r) => [r.Stripe_Customer_Id__c, r.sf__Error]),
  };
}

async function paging(conn) {
  const first = await conn.query('SELECT Stripe_Customer_Id__c FROM Customer__c ORDER BY Stripe_Customer_Id__c');
  const next = await conn.queryMore(first.nextRecordsUrl);
  const keys = [...first.records, ...next.records].map((r) => r.Stripe_Customer_Id__c);
  const all = await conn.query('SELECT Stripe_Customer_Id__c FROM Customer__c').execute({ autoFetch: true, maxFetch: 10000 });
  seen.paging = {
    total: first.totalSize, first: first.records.length, firstDone: first.done, nextDone: next.done,
    distinct: new Set(keys).size, sorted: keys.every((k, i) => i === 0 || keys[i - 1] < k), fetched: all.records.length,
  };
}

const conn = await logins();
await describe(conn);
await rows(conn);
await arrays(conn);
await bulk(conn);
await paging(conn);
console.log(JSON.stringify(seen));
