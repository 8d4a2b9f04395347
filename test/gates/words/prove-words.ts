import { fileEndings } from '../../../bench/parse-cases.ts';
import { syntaxes } from '../../../readers/source/tokens/syntax.ts';
import { reaches, urlOf, withoutWord } from './break-word.ts';
import type { Corpus, WordCase } from './corpora.ts';
import type { WordPlace } from './word-places.ts';

/** The case that comes out differently without a word; `undefined` where none does. */
export type Prover = (place: WordPlace) => Promise<string | undefined>;

/** Takes words away and asks what these cases then come to. */
export async function makeProver(corpora: readonly Corpus[]): Promise<Prover> {
  const ready = await Promise.all(
    corpora.map(async (corpus) => ({
      ...corpus,
      whole: (await import(urlOf(corpus.entry))) as Record<string, unknown>,
    })),
  );
  const usual = new Map<WordCase, string>();
  return async (place) => {
    const file = place.table.slice(0, place.table.indexOf('#'));
    const said = spoken(place.word);
    for (const { entry, about, cases, whole } of ready) {
      if (!about.some((path) => file.startsWith(path)) || !reaches(entry, file)) continue;
      const ending = endingOf(file);
      const isSaid = ({ text }: WordCase): boolean => said.every((part) => text.toLowerCase().includes(part));
      // What a grammar calls a thing stands in no source: any of the language may tell.
      const telling = [
        ...cases.filter(isSaid),
        ...(place.word in syntaxes ? cases.filter((one) => !isSaid(one)) : []),
        ...(ending !== undefined && /^[a-z]+(?:_[a-z]+)*$/.test(place.word)
          ? cases.filter((one) => !isSaid(one) && one.text.startsWith(`x.${ending}`))
          : []),
      ];
      if (telling.length === 0) continue;
      // What was written for a word is short.
      telling.sort((one, other) => one.text.length - other.text.length);
      const without = await withoutWord(entry, place).catch(() => undefined);
      if (without === undefined) return 'it does not load';
      for (const one of telling) {
        const as = usual.get(one) ?? (await outcome(one, whole));
        usual.set(one, as);
        if ((await outcome(one, without)) !== as) return one.name;
      }
    }
    return undefined;
  };
}

async function outcome({ ask }: WordCase, module: Record<string, unknown>): Promise<string> {
  try {
    return JSON.stringify(await ask(module)) ?? '';
  } catch (error) {
    return `threw ${error instanceof Error ? error.message : ''}`;
  }
}

/** What of a word, which may be a part of a pattern, stands in a text that it is about. */
function spoken(word: string): readonly string[] {
  const plain = word
    .replace(/\\[bBdDsSwW]|\\[pP]\{[^}]*\}/g, '\0')
    .replace(/\\(.)/g, '$1')
    .replace(/\((?:\?(?::|<?[=!]))?[^()]*\)\??|\[[^\]]*\][*+?]?|.\?|.\*|\{\d[^}]*\}|[()^$+.|]/g, '\0');
  return plain
    .toLowerCase()
    .split(/\0+/)
    .filter((part) => /^[\w ]*[a-z]{2}/.test(part))
    .slice(0, 1);
}

/** The ending of the language that a source is named after. */
function endingOf(file: string): string | undefined {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return Object.entries(fileEndings).find(([language]) => name.startsWith(language))?.[1];
}
