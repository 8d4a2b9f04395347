import type { SecretPattern } from '../../readers/sensitive/secrets/secret-patterns.ts';

/** Every text at which a pattern is tried, a character class of its anchors written out. */
export function anchorsOf({ anchors }: SecretPattern): readonly string[] {
  return 'classes' in anchors ? textsOf(anchors.classes) : anchors;
}

/** Every text of a class per place: `[0-9]Q` gives ten. */
export function textsOf(classes: string): readonly string[] {
  const places = classes.match(/\[[^\]]+\]|\\?./g) ?? [];
  return places.reduce<readonly string[]>(
    (heads, place) => {
      const chars = charactersOf(place);
      return heads.flatMap((head) => chars.map((char) => head + char));
    },
    [''],
  );
}

/** Printable ASCII characters of a class. */
function charactersOf(characterClass: string): readonly string[] {
  const form = new RegExp(`^${characterClass}$`);
  return Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).filter((char) =>
    form.test(char),
  );
}
