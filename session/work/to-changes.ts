/** Converts patches to the changes that a session shows. */
import { type EnvelopeSection, readEnvelope } from '../../agent/patch/apply-hunks.ts';
import type { Clock } from '../../core/base/clock.ts';
import { patchContentPath } from '../../engine/record/settle-run.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CutHunk, type CutSection, cutPatch, hunkIds } from '../../workspace/patch/patch-paths.ts';
import type { PatchHunk, SessionChange } from '../state/work.ts';

/** Octets of diff of one file, and of one patchset. */
const most = { file: 64 * 1024, patchset: 256 * 1024 } as const;

/**
 * Converts a patch to the changes of a session: each file with its unified diff, cut after a whole hunk if it is
 * long, and the ids of its hunks. Files without a section in the patch have no diff.
 */
export function toChanges(
  files: readonly { readonly path: string; readonly changeType: string }[],
  diff: Buffer | undefined,
): readonly SessionChange[] {
  const sections = new Map<string, CutSection[]>();
  for (const section of diff === undefined ? [] : cutPatch(diff))
    sections.set(section.path, [...(sections.get(section.path) ?? []), section]);
  let left: number = most.patchset;
  return files.map(({ path, changeType }) => {
    const told = toldOf(sections.get(path) ?? [], Math.min(most.file, left));
    left -= told.diff?.length ?? 0;
    return { path, changeType, ...told };
  });
}

function toldOf(
  sections: readonly CutSection[],
  limit: number,
): Pick<SessionChange, 'diff' | 'hunks' | 'unshown'> {
  const hunks: { id: string; header: string }[] = [];
  let diff = '';
  let unshown = 0;
  for (const { head, hunks: cut, id } of sections) {
    if (cut.length === 0) hunks.push({ id, header: wholeFile });
    let isBegun = false;
    for (const hunk of cut) {
      const text = `${isBegun ? '' : namesIn(head)}${headerOf(hunk)}\n${hunk.body.toString('utf8')}`;
      if (unshown > 0 || diff.length + text.length > limit) unshown += 1;
      else {
        diff += text;
        hunks.push({ id: hunk.id, header: headerOf(hunk) });
        isBegun = true;
      }
    }
  }
  return {
    ...(diff === '' ? {} : { diff }),
    ...(hunks.length === 0 ? {} : { hunks }),
    ...(unshown === 0 ? {} : { unshown }),
  };
}

/** Header for a change without hunks: binary, plain rename, mode. */
const wholeFile = 'whole file';

/** The lines `---` and `+++`: what plain unified readers need. */
function namesIn(head: Buffer): string {
  const text = head.toString('utf8');
  return text.slice(text.indexOf('\n--- ') + 1);
}

function headerOf({ header, rest }: CutHunk): string {
  const { oldLine, oldCount, newLine, newCount } = header;
  const about = rest.toString('utf8').trimEnd();
  return `@@ -${oldLine},${oldCount} +${newLine},${newCount} @@${about}`;
}

/** Characters of diff of one file. */
const maxDiff = 64 * 1024;

/**
 * Parses the `apply_patch` call of a model to changes; empty if it cannot be parsed. Its hunks have context lines but
 * no line numbers.
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
  // The content of a deleted file is not shown.
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

/** Keeps the common lines at both ends as context. */
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

/**
 * The patch of a run from its record; masked if it was refused for a secret. `undefined` if its content has expired.
 */
export async function patchOfRun(
  engine: WritEngine,
  { repositoryPath, clock }: { readonly repositoryPath: string; readonly clock: Clock },
  runId: string,
): Promise<Buffer | undefined> {
  const repository = await openRepository(repositoryPath);
  const { store } = await findRun(engine.slots.store, repository, clock, runId);
  const { objects, refs } = store;
  return objects.read(refs.content(runId), patchContentPath);
}
