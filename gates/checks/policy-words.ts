/**
 * Words of a policy check's command; `undefined` for text that only a shell could make sense of (operators, `$`, open
 * quotes).
 */
export function policyWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const character = command.charAt(at);
    if (character === "'" || character === '"') {
      const end = command.indexOf(character, at + 1);
      const inside = end === -1 ? undefined : command.slice(at + 1, end);
      if (inside === undefined || (character === '"' && /[$`\\]/.test(inside))) return undefined;
      word = (word ?? '') + inside;
      at = end;
    } else if (character === ' ' || character === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>()$`\\\n\r*?[\]{}#~!]/.test(character)) {
      return undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
