/**
 * DCS, SOS, PM, APC and OSC sequences (ECMA-48, 5.6) with all that they hold, which terminals do not print; to the end
 * of the line if they do not end. No start is in the text of another one, so the search is linear.
 */
const terminalStrings =
  /(?:\u001b[PX^_\]]|[\u0090\u0098\u009d-\u009f])(?:[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)|[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*)/g;

/** Text without the sequences whose content terminals interpret and do not print. */
export function withoutTerminalStrings(text: string): string {
  return text.replace(terminalStrings, '');
}
