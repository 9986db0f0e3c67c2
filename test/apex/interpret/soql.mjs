// Queries: what the package writes, over rows in memory.
import { kind, optional } from './program.mjs';
import { ApexSet, List, compareNumbers, isNumeric } from './values.mjs';
import { Row } from './rows.mjs';

const nameOf = (field) => [optional(field.field.entity)?.field.value, field.field.field.value].filter(Boolean).join('.').toLowerCase();

/** select runs a parsed query and gives rows, or a number for COUNT(). */
export function select(org, query, evaluate) {
  const object = org.objectNamed(query.from.exprs[0].table.field.value);
  org.count('queries');
  const rows = org.rowsOf(object).filter((row) => !optional(query.where) || holds(query.where.value.expr, { row, object, evaluate, org }));
  sort(rows, optional(query.orderBy)?.exprs ?? []);
  const limit = optional(query.limit);
  const cut = limit ? rows.slice(0, Number(limit.i ?? evaluate(limit.expr.expr))) : rows;
  if (kind(query.select) === 'soql.SelectClause$SelectCountClause') return BigInt(cut.length);
  return new List(cut.map((row) => project(org, row, query.select.exprs.map((e) => nameOf(e.field)))));
}

/** project gives a row that holds the named fields only. */
export function project(org, row, names) {
  for (const name of names) if (!row.object.fields.has(name)) org.interpreter.raise('QueryException', `No such column '${name}' on entity '${row.object.name}'`);
  return new Row(row.object, ['id', ...names].map((n) => [n, row.get(n)]), new Set(['id', ...names]));
}

function sort(rows, orders) {
  rows.sort((a, b) => {
    for (const { field } of orders) {
      const result = compare(a.get(nameOf(field)), b.get(nameOf(field)));
      if (result !== 0) return result;
    }
    return 0;
  });
}

function compare(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (isNumeric(a)) return compareNumbers(a, b);
  if (a.ms !== undefined) return compareNumbers(a.ms, b.ms);
  return a < b ? -1 : a > b ? 1 : 0;
}

function holds(node, at) {
  switch (kind(node)) {
    case 'soql.WhereExpr$WhereCompoundExpr':
      return kind(node.op).endsWith('QueryAnd') ? node.expr.every((e) => holds(e, at)) : node.expr.some((e) => holds(e, at));
    case 'soql.WhereExpr$WhereOpExprs':
      return node.expr.some((e) => equals(at, node.field, literal(e, at)));
    default:
      return operator(node, at);
  }
}

function literal(expr, at) {
  if (kind(expr) === 'soql.QueryExpr$ApexExpr') return at.evaluate(expr.expr.expr);
  return kind(expr.literal) === 'soql.QueryLiteral$QueryNull' ? null : expr.literal.literal;
}

function operator(node, at) {
  const value = literal(node.expr, at);
  const held = at.row.get(nameOf(node.field));
  switch (kind(node.op)) {
    case 'soql.QueryOp$QueryEqual': return equals(at, node.field, value);
    case 'soql.QueryOp$QueryIn': return itemsOf(value).some((v) => equals(at, node.field, v));
    case 'soql.QueryOp$QueryLessThanEqual': return held !== null && compare(held, value) <= 0;
    default: throw new Error(`unknown operator ${kind(node.op)}`);
  }
}

const itemsOf = (value) => (value instanceof ApexSet ? [...value.members] : value instanceof List ? value.items : [value]);

function equals(at, field, value) {
  return sameKey(at.object.fields.get(nameOf(field)), at.row.get(nameOf(field)), value);
}

/** sameKey compares as Salesforce does: text in any case but for case sensitive fields. */
export function sameKey(field, held, value) {
  if (held === null || value === null) return held === value;
  if (typeof held === 'string' && !field.isCaseSensitive) return held.toLowerCase() === String(value).toLowerCase();
  return compare(held, value) === 0;
}
