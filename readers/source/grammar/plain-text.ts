/** Non-ASCII white space of JavaScript, Python, C# and Java, and the byte order mark, in UTF-8 read as latin1. */
const spaces =
  /\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xaf]|\xe2\x81[\x9f\xa0]|\xe3\x80\x80|\xef\xbb\xbf/g;
const separators = /\xe2\x80[\xa8\xa9]/g;

/**
 * UTF-8 bytes, given as latin1 text, in a form that grammars read as its authors meant and whose indexes are still byte
 * offsets: white space becomes blanks, U+2028 and U+2029 line breaks, and every other byte beyond ASCII a letter.
 */
export function plainText(latin1: string): string {
  if (!/[^\x00-\x7f]/.test(latin1)) return latin1;
  return latin1
    .replace(spaces, (found) => ' '.repeat(found.length))
    .replace(separators, '  \n')
    .replace(/[\x80-\xff]/g, (found) => String.fromCharCode(0x80 + found.charCodeAt(0)));
}
