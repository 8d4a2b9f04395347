import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openUserSigningKey } from '../../attest/keys/user-keys.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { systemClock } from '../../core/base/clock.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

const configText = `# What writ is told by this repository; read from the policy commit of a run, never from the working tree.
# Every setting and its default: docs/config.md

[workspace]
# share = ["node_modules"]
`;

/** Only these are tracked below \`.writ/\`; everything else there is state of one machine. */
const ignoreText =
  '*\n!.gitignore\n!config.toml\n!allowed_signers\n!agents/\n!agents/**\n!trust/\n!trust/**\n';

/** `writ init`: state directory, signing key, ledger. Running it again changes nothing that is there. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const stateDir = join(repository.root, '.writ');
  await mkdir(stateDir, { recursive: true });
  const created: string[] = [];
  for (const [name, text] of [
    ['config.toml', configText],
    ['.gitignore', ignoreText],
  ] as const) {
    if (await createOnce(join(stateDir, name), text)) created.push(`.writ/${name}`);
  }
  const signer = await openUserSigningKey(context.env);
  const vkey = await openUserLedger(repository.commonDir, context.env, systemClock).vkey();
  const origin = vkey.split('+')[0] ?? '';
  const data = {
    state_dir: stateDir,
    key_id: signer.keyId,
    ledger_origin: origin,
    ledger_vkey: vkey,
    created,
  };
  return succeeded(data, (printer) => {
    printer.line(created.length > 0 ? `created ${created.join(', ')}` : 'nothing to create');
    printer.line(`  signing key  ${signer.keyId}`);
    printer.line(`  ledger       ${origin}`);
    printer.line(`  next         commit .writ/config.toml, then: writ spec new -o intent.json`);
  });
}

/** True where the file was made; an existing one, a symlink too, is left alone. */
async function createOnce(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fault;
  }
}
