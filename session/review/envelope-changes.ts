import { type EnvelopeSection, readEnvelope } from '../../agent/patch/read-envelope.ts';
import { hunkIds } from '../../workspace/patch/hunks.ts';
import type { PatchHunk, SessionChange } from '../state/work.ts';

/** Characters of diff that are told of one file. */
const maxDiff = 64 * 1024;

/**
 * What a model means to change, as its `apply_patch` says it; empty for what cannot be read. Where in a file that is
 * known stands there as well; a hunk of a model names lines around it and no number, and `@@` stands there alone.
 */
export function envelopeChanges(patch: string): readonly SessionChange[] {
  const idOf = hunkIds();
  return sectionsOf(patch).map((section) => {
    const { path } = section;
    let diff = '';
    const hunks: PatchHunk[] = [];
    const cut = hunksOf(section);
    for (const { header, lines } of cut) {
      const text = `${diff === '' ? namesOf(section) : ''}${header}\n${lines.join('')}`;
      if (diff.length + text.length > maxDiff) break;
      diff += text;
      hunks.push({ id: idOf(path, Buffer.from(lines.join(''))), header });
    }
    const unshown = cut.length - hunks.length;
    return {
      path,
      changeType: section.kind === 'update' && section.moveTo !== undefined ? 'rename' : typeOf[section.kind],
      ...(diff === '' ? {} : { diff }),
      ...(hunks.length === 0 ? {} : { hunks }),
      ...(unshown === 0 ? {} : { unshown }),
    };
  });
}

const typeOf = { add: 'add', delete: 'delete', update: 'modify' } as const;

function sectionsOf(patch: string): readonly EnvelopeSection[] {
  try {
    return readEnvelope(patch);
  } catch {
    // A patch that cannot be read is answered by the tool itself.
    return [];
  }
}

function namesOf(section: EnvelopeSection): string {
  const { kind, path } = section;
  const now = kind === 'update' ? (section.moveTo ?? path) : path;
  return `--- ${kind === 'add' ? '/dev/null' : `a/${path}`}\n+++ b/${now}\n`;
}

interface EnvelopeLines {
  readonly header: string;
  readonly lines: readonly string[];
}

function hunksOf(section: EnvelopeSection): readonly EnvelopeLines[] {
  // What a file held that goes is not said.
  if (section.kind === 'delete') return [];
  if (section.kind === 'add') {
    const lines = section.lines.map((line) => `+${line}\n`);
    return lines.length === 0 ? [] : [{ header: `@@ -0,0 +1,${lines.length} @@`, lines }];
  }
  return section.hunks.map(({ after, from, to }) => ({
    header: after === undefined ? '@@' : `@@ ${after}`,
    lines: changedLines(from, to).map((line) => `${line}\n`),
  }));
}

/** Lines that are the same at both ends stand around what is changed. */
function changedLines(from: readonly string[], to: readonly string[]): readonly string[] {
  const most = Math.min(from.length, to.length);
  let before = 0;
  while (before < most && from[before] === to[before]) before += 1;
  let after = 0;
  while (after < most - before && from.at(-1 - after) === to.at(-1 - after)) after += 1;
  return [
    ...from.slice(0, before).map((line) => ` ${line}`),
    ...from.slice(before, from.length - after).map((line) => `-${line}`),
    ...to.slice(before, to.length - after).map((line) => `+${line}`),
    ...from.slice(from.length - after).map((line) => ` ${line}`),
  ];
}
