export function judge(): never {
  throw new RangeError('no such thing');
}
