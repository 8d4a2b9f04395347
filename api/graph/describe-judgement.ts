import type { StoredObject } from '../../engine/store/stored-object.ts';
import { type Described, eachOf, named, toDetail } from './described.ts';

type Finding = StoredObject<'patchset'>['findings'][number];

/** What an attempt made. */
export function describePatchset(patchset: StoredObject<'patchset'>): Described {
  const { files, findings } = patchset;
  let [added, deleted] = [0, 0];
  for (const file of files) {
    added += file.lines_added;
    deleted += file.lines_deleted;
  }
  const size = `${files.length} file${files.length === 1 ? '' : 's'} +${added} -${deleted}`;
  return {
    label: files.length === 0 ? 'no change' : size,
    tags: [patchset.apply_status.toLowerCase()],
    detail: toDetail(
      eachOf(files, (file) => `${file.change_type} ${file.path} +${file.lines_added} -${file.lines_deleted}`),
      eachOf(findings, toLine),
      named('digest', patchset.digest),
      named('candidate tree', patchset.candidate_tree),
    ),
  };
}

/** What a check or a stage showed. */
export function describeEvidence(evidence: StoredObject<'evidence'>): Described {
  const { tests, findings } = evidence;
  return {
    label: evidence.kind,
    tags: [evidence.status, ...(evidence.required ? [] : ['optional'])],
    detail: toDetail(
      evidence.summary,
      named('command', evidence.command),
      evidence.timed_out === true ? 'ended at its time limit' : named('exit code', evidence.exit_code),
      named('signal', evidence.signal),
      tests === undefined
        ? undefined
        : `tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`,
      eachOf(findings, toLine),
      named('took ms', evidence.duration_ms),
      named('made at', evidence.created_at),
    ),
  };
}

/** What was decided, and why. */
export function describeDecision(decision: StoredObject<'decision'>): Described {
  const { type, next, commit_sha: commit } = decision;
  return {
    label: commit === undefined ? toEnd(type, next) : `${type} ${commit.slice(0, 12)}`,
    tags: [type],
    detail: toDetail(
      decision.rationale,
      eachOf(decision.reasons, (reason) => `reason: ${reason}`),
      named('trigger', decision.trigger),
      named('commit', commit),
      named('target', decision.target_ref),
      named('made without provenance', decision.unproven),
      named('decided at', decision.created_at),
    ),
  };
}

function toEnd(type: string, next: string | undefined): string {
  return next === undefined || next === type ? type : `${type}, then ${next}`;
}

function toLine({ severity, rule, message, path, line }: Finding): string {
  const where = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`;
  return `${severity}: ${rule}${where} ${message}`;
}
