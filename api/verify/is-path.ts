/** True for what is spelled as a path, which no ref can be, and for stdin. */
export function isPath(target: string): boolean {
  return /^(?:-$|\.{0,2}\/)/.test(target);
}
