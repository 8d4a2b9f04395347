import type { ShellWord } from '../source/shell-word.ts';
import type { Hit } from './hit.ts';

const shells = /^(?:.*\/)?(?:ba|z|da|k|a)?sh$/;
/** Commands that run the words after them. */
const wrappers = new Set(['builtin', 'command', 'sudo', 'env', 'nohup', 'exec', 'time', 'xargs']);

/**
 * Direct execution in shell scripts: `eval`, a shell given a built text (`sh -c "$x"`), input piped into a shell, and sourcing a
 * process substitution. `exec` replaces the process and evaluates nothing, so it does not count.
 */
export function shellHits(words: readonly ShellWord[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (!word) continue;
    const runs = word.isCommand || isWrapped(words, index);
    if (runs && word.text === 'eval' && word.hasNext)
      hits.push({ start: word.start, call: 'eval', why: 'evaluates a string as shell code' });
    else if (runs && (word.text === 'source' || word.text === '.') && words[index + 1]?.text === '<(') {
      hits.push({ start: word.start, call: word.text, why: 'runs what another command prints' });
    } else if (shells.test(word.text)) {
      const found = shellCall(words, index, word, runs);
      if (found) hits.push(found);
    }
  }
  return hits;
}

function shellCall(
  words: readonly ShellWord[],
  index: number,
  word: ShellWord,
  runs: boolean,
): Hit | undefined {
  let at = index;
  let current: ShellWord | undefined = word;
  let script: ShellWord | undefined;
  let isText = false;
  while (current?.hasNext) {
    at = nextOf(words, at);
    current = words[at];
    if (!current) break;
    if (/^-[a-zA-Z]*c$/.test(current.text)) {
      isText = true;
      script = current.hasNext ? words[nextOf(words, at)] : undefined;
      break;
    }
    if (!/^[-+]/.test(current.text)) {
      script = current;
      break;
    }
  }
  if (isText) {
    return script?.isDynamic
      ? {
          start: word.start,
          also: [script.start],
          call: `${word.text} -c`,
          why: 'hands a built command line to a shell',
        }
      : undefined;
  }
  if (!runs) return undefined;
  const readsProcess =
    script?.text === '<(' ||
    (!script &&
      words[index + 1]?.text === '<(' &&
      words[index + 1]?.start !== undefined &&
      !word.hasNext &&
      isNear(word, words[index + 1]));
  if (readsProcess) return { start: word.start, call: word.text, why: 'runs what another command prints' };
  if (word.afterPipe && !script)
    return { start: word.start, call: `| ${word.text}`, why: 'runs what is piped into a shell' };
  return undefined;
}

/** The next word of the same command: words inside its substitutions come in between. */
function nextOf(words: readonly ShellWord[], index: number): number {
  let at = index + 1;
  while (words[at]?.isCommand) {
    at += 1;
    while (words[at - 1]?.hasNext && words[at] && !words[at]?.isCommand) at += 1;
  }
  return at;
}

function isNear(word: ShellWord, next: ShellWord | undefined): boolean {
  return next !== undefined && next.start - word.start <= word.text.length + 4;
}

function isWrapped(words: readonly ShellWord[], index: number): boolean {
  for (let at = index - 1; at >= 0 && index - at < 5; at -= 1) {
    const word = words[at];
    if (!word?.hasNext) return false;
    if (wrappers.has(word.text) && (word.isCommand || isWrapped(words, at))) return true;
    if (!/^-|=/.test(word.text)) return false;
  }
  return false;
}
