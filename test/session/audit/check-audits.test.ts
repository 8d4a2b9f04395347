import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openAudit } from '../../../session/audit/keep-audit.ts';
import { threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { runWrit } from '../../bin/start-writ.ts';
import { long } from '../../rooms/long.ts';
import { makeServed } from '../../service/started-service.ts';

long('`writ fsck` reports an altered or missing audit log of a thread', async (t) => {
  const place = makeServed(t);
  const witness = userJournalWitness(place.env);
  const directory = threadDirectory(await openRepository(place.cwd), 'thread');
  const fsck = async () => {
    const { code, out } = await runWrit(['fsck', '--json'], place);
    return { code, ...JSON.parse(out) };
  };
  const log = await openAudit(directory, 'thread', { clock: systemClock, witness });
  for (const redacted_summary of ['one', 'two'])
    await log.append({ principal_id: 'tui', action: 'submit', redacted_summary });
  t.match(await fsck(), { code: 0, data: { problems: [], checked: { audit_lines: 2 } } });
  await log[Symbol.asyncDispose]();
  const path = join(directory, 'audit-1.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'another'));
  const told = { where: path, depends_on: [] };
  t.match(await fsck(), { code: 1, data: { problems: [{ code: 'audit-altered', ...told }] } });
  rmSync(path);
  const gone = { code: 'audit-missing', where: directory, what: 'it ends at line 0, and reached line 2' };
  t.match(await fsck(), { code: 1, data: { problems: [gone] } });
});
