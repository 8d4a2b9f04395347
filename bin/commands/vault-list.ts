import { readVault } from '../../api/vault/vault.ts';
import { globalVault } from '../../api/vault/vault-place.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { vaultsHere } from '../command-parts/pick-vault.ts';

/** `writ vault list`: names alone, of the repository's vault before the user's. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const places = context.options.flag('global') ? [globalVault(context.env)] : await vaultsHere(context);
  const secrets: { readonly name: string; readonly vault: string }[] = [];
  for (const place of places)
    for (const name of [...(await readVault(place)).keys()].sort()) secrets.push({ name, vault: place.kind });
  return succeeded({ secrets }, (printer) => {
    printer.table(secrets.map(({ name, vault }) => [name, vault]));
    if (secrets.length === 0) printer.note('no secrets; `writ vault set NAME` reads one from stdin');
  });
}
