import type { PatchSection } from '../../readers/diff/read-sections.ts';

/** The names that a section would touch with `level` leading directories taken off. */
export function strippedNames(section: PatchSection, level: 0 | 1): readonly string[] {
  const named = [section.oldName, section.newName].flatMap((name) =>
    name === undefined ? [] : [stripName(name, level)],
  );
  return [...new Set([...named, ...section.plainNames])];
}

/** Names at base by which the level is found: what the section says exists already. */
export function expectedAtBase(section: PatchSection, level: 0 | 1): string | undefined {
  return section.oldName === undefined ? undefined : stripName(section.oldName, level);
}

/**
 * 1 where names carry a prefix (`a/x`, `b/x`), 0 where they do not (`diff.noprefix`, `diff -u x y`). What exists at
 * base decides; where that says nothing (new files only), the customary prefixes do.
 */
export function pickStripLevel(sections: readonly PatchSection[], exists: (path: string) => boolean): 0 | 1 {
  let bare = 0;
  let prefixed = 0;
  for (const section of sections) {
    const asIs = expectedAtBase(section, 0);
    const stripped = expectedAtBase(section, 1);
    if (asIs === undefined || stripped === undefined || section.oldName === undefined) continue;
    if (exists(asIs)) bare += 1;
    if (section.oldName.includes('/') && exists(stripped)) prefixed += 1;
  }
  if (bare !== prefixed) return bare > prefixed ? 0 : 1;
  const names = sections.flatMap((section) =>
    [section.oldName, section.newName].filter((name) => name !== undefined),
  );
  if (names.length === 0) return 1;
  return names.every((name) => /^[abciow12]\//.test(name)) ? 1 : 0;
}

function stripName(name: string, level: 0 | 1): string {
  const slash = name.indexOf('/');
  return level === 0 || slash < 0 ? name : name.slice(slash + 1);
}
