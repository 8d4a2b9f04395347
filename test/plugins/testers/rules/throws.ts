export function judge(): never {
  throw new Error('boom');
}
