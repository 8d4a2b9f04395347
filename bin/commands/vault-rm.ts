import { changeVault, parseSecretName } from '../../api/vault/vault.ts';
import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { pickVault } from '../command-parts/vaults.ts';

/** `writ vault rm NAME`. SECRET_UNKNOWN. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const name = parseSecretName(context.args[0] ?? '');
  const place = await pickVault(context);
  await changeVault(place, (secrets) => {
    if (secrets.has(name)) return new Map([...secrets].filter(([one]) => one !== name));
    throw new WritError('SECRET_UNKNOWN', {
      message: `the ${place.kind} vault holds no \`${name}\``,
      detail: { name, vault: place.kind },
    });
  });
  return succeeded({ name, vault: place.kind }, (printer) =>
    printer.line(`removed ${name} from the ${place.kind} vault`),
  );
}
