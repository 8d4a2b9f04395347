/** Tells a runner that counts assertions (tap) of a case that passed; one that does not (node:test) needs no word. */
export function tellPassed(t: object, name: string): void {
  if ('pass' in t && typeof t.pass === 'function') t.pass(name);
}
