import type { Key } from '../term/key.ts';

/** A key in words: `ctrl+c`, `alt+enter`, `shift+tab`, `left`; nothing for text. Letters are small, without `shift`. */
export function chordOf(key: Key): string | undefined {
  if (key.type !== 'key') return undefined;
  const isChar = key.name.startsWith('char:');
  const name = isChar ? key.name.slice('char:'.length).toLowerCase() : key.name;
  const with_ = [
    ...(key.ctrl ? ['ctrl'] : []),
    ...(key.alt ? ['alt'] : []),
    ...(key.shift && !isChar ? ['shift'] : []),
  ];
  return [...with_, name].join('+');
}
