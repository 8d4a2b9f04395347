import type { DescribedRule, Rule } from '../contract/rule.ts';

/** What rules say of themselves: one entry each, and of a rule that is made of many one for each row behind it. */
export async function describeRules(rules: readonly Rule[]): Promise<readonly DescribedRule[]> {
  const described = rules.map(async ({ id, text, rows }) => [
    ...(text === undefined ? [] : [{ id, ...text }]),
    ...((await rows?.()) ?? []),
  ]);
  return (await Promise.all(described)).flat();
}

/** The ids that findings of these rules bear in a report. */
export async function reportedIds(rules: readonly Rule[]): Promise<readonly string[]> {
  const ids = rules.map(async ({ id, rows }) =>
    rows === undefined ? [id] : (await rows()).map((row) => row.id),
  );
  return (await Promise.all(ids)).flat();
}
