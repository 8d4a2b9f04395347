import { type CodedReader, skippedCharacters } from '../../readers/sensitive/secrets/encoded-forms.ts';

/** A text as it appears under an encoding, and the reader of that encoding. */
export interface EncodedAnchor {
  /** At least four characters, the same wherever the text is encoded. */
  readonly anchor: string;
  readonly reader: CodedReader;
}

export interface FormChoice {
  /** Whether the pattern looks back, so that escapes before the text are read, too. */
  readonly looksBack?: boolean;
  /** The text is one of many that share their beginning: the anchors are cut so that most of them are equal. */
  readonly isOfMany?: boolean;
}

/**
 * Base64 at its three alignments, hexadecimal digits, percent, `\u00` and `\x` escapes of a whole text of at least
 * three characters.
 */
export function encodedAnchors(
  sought: string,
  { looksBack = false, isOfMany = false }: FormChoice = {},
): readonly EncodedAnchor[] {
  const hex = Buffer.from(sought, 'latin1').toString('hex');
  const cut = (anchor: string, most: number): string => (isOfMany ? anchor.slice(0, most) : anchor);
  const forms: EncodedAnchor[] = [];
  const add = (form: EncodedAnchor): void => {
    const { anchor } = form;
    if (anchor.length >= 4 && !forms.some((one) => one.anchor === anchor)) forms.push(form);
  };
  for (const phase of [0, 1, 2] as const)
    add({ anchor: cut(base64Anchor(sought, phase), 4), reader: `${phase}` });
  for (const digits of [hex, hex.toUpperCase()]) add({ anchor: cut(digits, 6), reader: 'x' });
  for (const mark of ['%', '\\u00', '\\x'])
    for (const digits of [hex, hex.toUpperCase()])
      add({
        anchor: digits.replace(/../g, (pair) => mark + pair),
        reader: looksBack ? 'a' : 'e',
      });
  return forms;
}

/**
 * The characters of base64 that a text makes with `phase` bytes before it in its group of three, whatever these and the
 * following bytes are.
 */
function base64Anchor(sought: string, phase: 0 | 1 | 2): string {
  const encoded = Buffer.from('\0'.repeat(phase) + sought, 'latin1').toString('base64');
  const last = Math.floor(((phase + sought.length) * 8) / 6);
  return encoded.slice(skippedCharacters(phase), last);
}
