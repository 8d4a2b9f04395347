import { parseBundle } from '../../attest/bundle.ts';
import { readProvenance } from '../../attest/verify/provenance-claims.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type ListedDigests, replayRun } from '../../engine/run/decide/replay-run.ts';
import { findRun } from '../../engine/store/record/find-run.ts';
import { sealPaths } from '../../engine/store/record/seal-paths.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';

/** `writ replay RUN`: decides again from the stored inputs; exit 0 byte-equal, 1 with the first difference. */
export async function run({ args, stores, repoPath, cwd }: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  // Not by way of what `show` reads: a record that was changed is to be told, not stumbled over.
  const { store, runId } = await findRun(stores, repository, systemClock, args[0] ?? '');
  const { objects, refs } = store;
  const paths = (await objects.list(refs.run(runId))).map(({ path }) => path);
  const isDecided = ['decision.json', 'decision-record.json'].some((path) => paths.includes(path));
  if (!isDecided || paths.includes('waiting.json'))
    throw new WritError('RUN_UNDECIDED', { detail: { run_id: runId } });
  const files = await objects.readMany(refs.run(runId), paths);
  const { equal, decision, firstDifference } = replayRun(files, listedDigests(files.get(sealPaths.bundle)));
  const data = {
    run_id: runId,
    equal,
    ...(decision === undefined
      ? {}
      : { decision: { type: decision.type, rationale: decision.rationale, reasons: decision.reasons } }),
    ...(firstDifference === undefined ? {} : { first_difference: firstDifference }),
  };
  if (firstDifference === undefined) {
    return succeeded(data, (printer) =>
      printer.line(`the stored inputs lead to the stored decision: ${decision?.type}, byte for byte`),
    );
  }
  const { file, field, expected, found } = firstDifference;
  const fault = new WritError('REPLAY_DIFFERS', {
    message: `\`${file}${field}\`: expected ${expected}, found ${found}`,
    detail: { run_id: runId, file, field, expected, found },
  });
  return refused(fault, data, (printer) => printer.line(fault.message));
}

/** What the run's provenance lists of its record; whether its signature holds is for `writ verify` to say. */
function listedDigests(bundle: Uint8Array | undefined): ListedDigests {
  if (bundle === undefined) return new Map();
  const { byproducts } = readProvenance(parseBundle(bundle).envelope.payload);
  return new Map(byproducts.map(({ name, sha256 }) => [name, sha256]));
}
