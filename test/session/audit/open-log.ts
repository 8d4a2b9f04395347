import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { type AuditParts, openAudit } from '../../../session/audit/keep-audit.ts';
import { auditName, listAuditFiles, verifyAudit } from '../../../session/audit/read-audit.ts';

/** The audit log of a thread `t` on disk, its user, and whoever looks at it. */
export function logOf(t: Test, more: Partial<AuditParts> = {}) {
  const root = t.testdir();
  const [directory, witness] = [join(root, 't'), userJournalWitness({ HOME: join(root, 'home') })];
  const parts = { clock: systemClock, witness, ...more };
  return {
    directory,
    witness,
    open: () => openAudit(directory, 't', parts),
    /** Adds lines and closes the log; what was found wrong before. */
    async write(...summaries: readonly string[]) {
      await using log = await openAudit(directory, 't', parts);
      for (const redacted_summary of summaries)
        await log.append({ principal_id: 'tui', action: 'submit', redacted_summary });
      return log.problems.map(({ code }) => code);
    },
    async judge(by = witness) {
      const files = await listAuditFiles(directory);
      return verifyAudit(directory, files, await by.look(auditName('t')));
    },
    async paths() {
      return (await listAuditFiles(directory)).map(({ path }) => path);
    },
    async lines(): Promise<readonly Readonly<Record<string, unknown>>[]> {
      const texts = (await listAuditFiles(directory)).map(({ path }) => readFileSync(path, 'utf8'));
      return texts
        .flatMap((text) => text.trimEnd().split('\n').filter(Boolean))
        .map((line) => JSON.parse(line));
    },
  };
}
