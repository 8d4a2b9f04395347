/** Lines that a change adds to tests of the base: new cases beside old ones, or something that old cases run. */
import type { ExecutedCheck } from '../../core/contract/executed-rule.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import { takesLines } from '../../core/contract/takes-lines.ts';
import { isCollected, isOfTests } from '../../readers/source/test-paths.ts';

/** The beginning of a case, of a group of cases, or of what is written above one. */
const beginsCase =
  /^\s*(?:(?:async\s+)?def\s+test|class\s+Test|func\s+Test|(?:await\s+)?(?:\w+\.)*(?:test|it|specify|scenario|describe|context|subtest)\b[\w.]*\s*[("'`{]|@|#|\[|\/\/|\*|\/\*|--|(?:public\s+|private\s+|internal\s+)?(?:async\s+)?(?:void|fun|Task)\s+\w+)/;
const closes = /^[\s(){}[\];,]*(?:end|done|fi)?[\s(){}[\];,]*$/;

/**
 * Whether a change of the product also adds lines to a test file, helper or set-up of the base that old cases may run:
 * all but one block that begins a case and holds nothing beside cases.
 */
export async function addsIntoTests({ patch, readTexts }: ExecutedCheck): Promise<boolean> {
  if (patch.files.every(isOfSuite)) return false;
  const grown = patch.files.filter(
    (file) => isOfSuite(file) && file.changeType === 'modify' && !takesLines(file),
  );
  if (grown.length === 0) return false;
  const paths = grown.map(({ path }) => path);
  const [base, candidate] = [await readTexts('base', paths), await readTexts('candidate', paths)];
  return paths.some(
    (path) => !isCollected(path) || !addsOnlyCases(base.get(path) ?? '', candidate.get(path) ?? ''),
  );
}

/** Whether a file is of tests, or was. */
export function isOfSuite({ path, oldPath = path }: PatchFile): boolean {
  return isOfTests(path) || isOfTests(oldPath);
}

/** Whether a text has one block of lines more, which begins a case and holds no other line at its indentation. */
export function addsOnlyCases(base: string, candidate: string): boolean {
  const [old, now] = [base.split('\n'), candidate.split('\n')];
  let first = 0;
  while (first < old.length && old[first] === now[first]) first += 1;
  let kept = 0;
  while (kept < old.length - first && old.at(-1 - kept) === now.at(-1 - kept)) kept += 1;
  if (first + kept < old.length) return false;
  const block = now.slice(first, now.length - kept);
  // An insertion between equal lines may be read one line later: its first lines are those that closed the case before.
  const start = block.findIndex((line) => !closes.test(line));
  const opening = block[start] ?? '';
  const indent = opening.search(/\S/);
  return (
    beginsCase.test(opening) &&
    block
      .slice(start)
      .every((line) => closes.test(line) || line.search(/\S/) > indent || beginsCase.test(line))
  );
}
