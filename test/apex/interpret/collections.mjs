// The methods of List, Set and Map.
import { ApexMap, ApexSet, Instance, List, compareNumbers, isNumeric, same } from './values.mjs';

const n = Number;

function natural(a, b) {
  if (typeof a === 'string') return a < b ? -1 : a > b ? 1 : 0;
  if (isNumeric(a)) return compareNumbers(a, b);
  throw new Error('no natural order');
}

function bounds(i, list, at) {
  if (at < 0n || at >= BigInt(list.items.length)) i.raise('ListException', `List index out of bounds: ${at}`);
  return n(at);
}

const itemsOf = (other) => other.items ?? [...other.members];

const ofList = {
  add(i, list, ...args) {
    if (args.length === 2) list.items.splice(n(args[0]), 0, args[1]);
    else list.items.push(args[0]);
    return null;
  },
  addall: (i, list, other) => (list.items.push(...itemsOf(other)), null),
  get: (i, list, at) => list.items[bounds(i, list, at)],
  set: (i, list, at, value) => ((list.items[bounds(i, list, at)] = value), null),
  remove: (i, list, at) => list.items.splice(bounds(i, list, at), 1)[0],
  clear: (i, list) => ((list.items.length = 0), null),
  size: (i, list) => BigInt(list.items.length),
  isempty: (i, list) => list.items.length === 0,
  contains: (i, list, value) => list.items.includes(value),
  indexof: (i, list, value) => BigInt(list.items.indexOf(value)),
  clone: (i, list) => new List([...list.items]),
  sort(i, list, comparator) {
    const compare = comparator instanceof Instance ? (a, b) => n(i.call(comparator, 'compare', [a, b])) : natural;
    list.items.sort(compare);
    return null;
  },
};

const ofSet = {
  add(i, set, value) {
    const isNew = !set.members.has(value);
    set.members.add(value);
    return isNew;
  },
  addall: (i, set, other) => (itemsOf(other).forEach((v) => set.members.add(v)), true),
  contains: (i, set, value) => set.members.has(value),
  containsall: (i, set, other) => itemsOf(other).every((v) => set.members.has(v)),
  remove: (i, set, value) => set.members.delete(value),
  size: (i, set) => BigInt(set.members.size),
  isempty: (i, set) => set.members.size === 0,
  clone: (i, set) => new ApexSet(set.members),
};

const ofMap = {
  put(i, map, key, value) {
    const before = map.entries.get(key) ?? null;
    map.entries.set(key, value);
    return before;
  },
  get: (i, map, key) => map.entries.get(key) ?? null,
  containskey: (i, map, key) => map.entries.has(key),
  putall: (i, map, other) => (other.entries.forEach((v, k) => map.entries.set(k, v)), null),
  remove(i, map, key) {
    const before = map.entries.get(key) ?? null;
    map.entries.delete(key);
    return before;
  },
  keyset: (i, map) => new ApexSet(map.entries.keys()),
  values: (i, map) => new List([...map.entries.values()]),
  size: (i, map) => BigInt(map.entries.size),
  isempty: (i, map) => map.entries.size === 0,
  clone: (i, map) => new ApexMap(map.entries),
  equals: (i, map, other) => same([...map.entries.keys()].length, [...other.entries.keys()].length),
};

/** collectionMethods gives the methods of a collection, null for other values. */
export function collectionMethods(value) {
  if (value instanceof List) return ofList;
  if (value instanceof ApexSet) return ofSet;
  return value instanceof ApexMap ? ofMap : null;
}
