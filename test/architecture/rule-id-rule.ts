import type { HouseFile } from './house.ts';
import { isShipped } from './rooms.ts';
import { ruleIdsElsewhere } from './rule-ids-elsewhere.ts';
import type { HouseRule } from './rule-kinds.ts';

const metaPath = /^gates\/rules\/([a-z0-9-]+)\.meta\.ts$/;
/** What stands before a word that is meant as a rule's id. */
const before = /(?:\b(?:rule|id|ruleId)\??(?:: | = | === | !== )|\b(?:rules\.get|judge|askRule)\()$/;

/** A rule is known by its `meta`: nobody else spells its id, but for what is listed with a reason. */
export const ruleIdRule: HouseRule = {
  name: 'a rule is known by its meta: nobody else spells its id',
  check: ({ files }) => {
    const ids = files.flatMap(({ path }) => metaPath.exec(path)?.[1] ?? []);
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
  if (
    path.startsWith(`gates/${id}/`) ||
    path === `gates/rules/${id}.ts` ||
    path === `gates/rules/${id}.meta.ts`
  )
    return false;
  for (let at = text.indexOf(`'${id}'`); at !== -1; at = text.indexOf(`'${id}'`, at + 1)) {
    // A comment is blank in `code`. A plain word is an id only where one is expected.
    if (code[at] === "'" && (id.includes('-') || before.test(text.slice(Math.max(0, at - 16), at))))
      return true;
  }
  return false;
}
