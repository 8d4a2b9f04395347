/** The places that the text of an entry (`test/<room>.ts`) names; none where it does anything else than run a room. */
export function placesOf(text: string): readonly string[] {
  const [, words = ''] =
    /^import \{ room \} from '\.\/rooms\/room\.ts';\n\nawait room\(([^)]*)\);\n$/.exec(text) ?? [];
  return [...words.matchAll(/'([^']+)'/g)].map(([, place = '']) => place);
}
