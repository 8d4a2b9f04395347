import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { importAdvisories } from '../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ sca import F`: advisories in OSV form, kept for this user; lookups then need no network. */
export async function run({ args, cwd, env, signal }: CommandContext): Promise<CommandResult> {
  const root = advisoryDir(env);
  const path = resolve(cwd, args[0] ?? '');
  const done = await importAdvisories({ root, path, clock: systemClock, signal });
  const data = {
    advisories: done.advisories,
    records: done.records,
    stored: done.stored,
    withdrawn: done.withdrawn,
    older: done.older,
    skipped: done.skipped,
    ecosystems: done.ecosystems,
    other_ecosystems: done.otherEcosystems.map(({ name, records }) => ({ name, records })),
    digest: `sha256:${done.digest}`,
    imported_at: done.importedAt,
    newest: done.newest,
    directory: root,
  };
  return succeeded(data, (printer) => {
    printer.line(`${done.advisories} advisories are kept in ${root}`);
    const parts = [
      `${done.stored} stored`,
      `${done.withdrawn} withdrawn`,
      `${done.older} older than what is kept`,
      `${done.skipped} of other ecosystems`,
    ];
    printer.line(`${done.records} records read: ${parts.join(', ')}`);
    for (const { name, records } of done.otherEcosystems.slice(0, 10))
      printer.line(`  not looked up: ${name} (${records})`);
    printer.line(`newest ${done.newest}, sha256:${done.digest}`);
  });
}
