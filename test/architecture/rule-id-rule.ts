import type { HouseFile } from './house.ts';
import { isShipped } from './rooms.ts';
import { ruleIdsElsewhere } from './rule-ids-elsewhere.ts';
import type { HouseRule } from './rule-kinds.ts';

const table = 'gates/rules.ts';
const inTable = /^ {4}id: '([a-z0-9-]+)',$/gm;
/** What stands before a word that is meant as a rule's id. */
const before = /(?:\b(?:rule|id|ruleId)\??(?:: | = | === | !== )|\b(?:rules\.get|judge|askRule)\()$/;

/** A rule is known by its row in `gates/rules.ts`; other files spell its id only if they are listed with a reason. */
export const ruleIdRule: HouseRule = {
  name: 'a rule is known by its row: no other file spells its id',
  check: ({ files }) => {
    const ids = files
      .filter(({ path }) => path === table)
      .flatMap(({ text }) => [...text.matchAll(inTable)].map(([, id]) => id ?? ''));
    const judged = files.filter(({ path }) => isShipped(path) && !path.endsWith('.gen.ts'));
    const found = judged.flatMap((file) =>
      ids.filter((id) => spells(file, id)).map((id) => `${file.path}: ${id}`),
    );
    const listed = Object.keys(ruleIdsElsewhere);
    return {
      matched: ids.length,
      violations: [
        ...found.filter((one) => !listed.includes(one)).map((one) => `${one} is spelt there`),
        // A house without that file is another one.
        ...listed
          .filter((one) => !found.includes(one) && files.some(({ path }) => one.startsWith(`${path}: `)))
          .map((one) => `${one} is listed and not spelt there`),
      ],
    };
  },
};

function spells({ path, text, code }: HouseFile, id: string): boolean {
  if (path === table || path.startsWith(`gates/${id}/`) || path === `gates/rules/${id}.ts`) return false;
  for (let at = text.indexOf(`'${id}'`); at !== -1; at = text.indexOf(`'${id}'`, at + 1)) {
    // A comment is blank in `code`. A plain word is an id only where one is expected.
    if (code[at] === "'" && (id.includes('-') || before.test(text.slice(Math.max(0, at - 16), at))))
      return true;
  }
  return false;
}
