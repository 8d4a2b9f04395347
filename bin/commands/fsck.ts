import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { findUserLedgerKey } from '../../attest/keys/user-keys.ts';
import { checkLedger } from '../../attest/log/check-ledger.ts';
import { checkProofs } from '../../attest/log/check-proofs.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { ledgerKeyFor } from '../../attest/log/ledger-key.ts';
import { ledgerPath } from '../../attest/log/ledger-path.ts';
import { openMirrorHere } from '../../attest/log/logged-proof.ts';
import { readFrom } from '../../attest/log/read-from.ts';
import { rebuildLedger } from '../../attest/log/rebuild-ledger.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { readUnverifiedManifest } from '../../attest/verify/predicates/read-manifest.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { checkRepository, mayBeElsewhere } from '../../engine/upkeep/check-repository.ts';
import { mayRestore, rebuild } from '../../engine/upkeep/rebuild.ts';
import { checkAudits } from '../../session/audit/check-audits.ts';
import { checkThreads, rebuildThreadIndex } from '../../session/thread/check-threads.ts';
import { shortRef } from '../../store/landed.ts';
import type { Problem } from '../../store/problem.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';

/** `writ fsck [--rebuild]`: checks what is stored and says what rests on what is broken; exit 1 with problems. */
export async function run({ options, stores, repoPath, cwd, env }: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const directory = join(repository.commonDir, ledgerPath);
  const check = () =>
    checkRepository({
      repository,
      clock: systemClock,
      stores,
      readManifest: readUnverifiedManifest,
      threads: () => checkThreads(repository, userJournalWitness(env)),
      audits: () => checkAudits(repository, userJournalWitness(env)),
      ledger: async () => {
        const { entries, problems } = await checkLedger(readFrom(directory), {
          memory: userCheckpointMemory(env),
          mirrorOf: (origin) => openMirrorHere(repository, origin),
          keyFor: async (origin) => {
            const key = await findUserLedgerKey(env);
            return key && ledgerKeyFor(origin, createPublicKey(key.publicKeyPem));
          },
        });
        return { entries, problems: [...problems, ...(await checkProofs(repository))] };
      },
    });
  const first = await check();
  const mend = options.flag('rebuild') && first.problems.length > 0;
  const restored = mend
    ? await rebuild({
        stores,
        repository,
        clock: systemClock,
        problems: first.problems,
        rebuildLedger: () => rebuildLedger(directory, systemClock),
        rebuildThreads: () => rebuildThreadIndex(repository),
      })
    : [];
  const { problems, notLanded, checked } = mend ? await check() : first;
  const { objects, journals, entries, threads, auditLines } = checked;
  const data = {
    problems: problems.map(({ code, where, what, dependsOn }) => ({
      code,
      where,
      what,
      depends_on: dependsOn,
    })),
    ...(notLanded.length === 0 ? {} : { not_landed: notLanded }),
    checked: { objects, journals, entries, threads, audit_lines: auditLines },
    restored,
  };
  const human = (printer: CommandContext['print']): void => {
    for (const path of restored) printer.line(`restored  ${path}`);
    for (const { code, where, what, dependsOn } of problems) {
      printer.line(`${code}  ${where}: ${what}`);
      if (dependsOn.length > 0) printer.line(`  rests on it: ${dependsOn.join(', ')}`);
    }
    for (const { where, commit, ref } of notLanded) {
      const branch = printable(shortRef(ref));
      printer.line(`sealed, not landed  ${where}: \`${branch}\` does not hold commit ${commit}`);
    }
    const audits = auditLines === 0 ? '' : `, ${auditLines} audit lines`;
    const sessions = threads === 0 ? '' : `, ${threads} threads`;
    printer.line(
      `${objects} objects, ${journals} journals, ${entries} ledger entries${sessions}${audits} checked`,
    );
  };
  if (problems.length === 0) return succeeded(data, human);
  const fault = new WritError('CHECK_FAILED', {
    message: `${problems.length} problems, first \`${problems[0]?.code}\` at \`${problems[0]?.where}\``,
    detail: { problems: problems.length },
    hints: mend ? [] : hintsFor(problems),
  });
  return refused(fault, data, human);
}

/** `--rebuild` is named only if it can restore something, and a backup only if no clone may have the rest. */
function hintsFor(all: readonly Problem[]): readonly string[] {
  const problems = all.filter((problem) => !mayBeElsewhere(problem));
  const fetch = 'bring the commits that another clone made: `git fetch`, then `writ fsck`';
  const theirs =
    'if another clone continued the run: `writ push` there, `writ fetch` here, then `writ fetch --theirs RUN`';
  const elsewhere = [
    ...(problems.length < all.length ? [fetch] : []),
    ...(problems.some(isOfAnotherRecord) ? [theirs] : []),
  ];
  return [...elsewhere, ...(problems.length > 0 ? hintsOfDamage(problems) : [])];
}

/** Content or a plan that differs from the record of its run may belong to a record of another clone. */
function isOfAnotherRecord({ code, where }: Problem): boolean {
  return code === 'digest-mismatch' && /\/(?:content|plans)\/[^/:]+:/.test(where);
}

function hintsOfDamage(problems: readonly Problem[]): readonly string[] {
  const restorable = problems.filter(mayRestore).length;
  const rebuild = 'restore what can be derived: `writ fsck --rebuild`';
  const backup = 'writ cannot derive the rest: restore it from a backup of the repository';
  if (restorable === problems.length) return [rebuild];
  if (restorable > 0) return [rebuild, backup];
  return ['writ cannot derive what is damaged: restore it from a backup of the repository'];
}
