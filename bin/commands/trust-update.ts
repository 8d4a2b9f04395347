/* The `writ trust` commands. */
import { existsSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { type ComparedRoots, type ComparedService, compareRoots } from '../../attest/public/compare-roots.ts';
import { maxTrustedRootBytes, parseTrustedRoot, type Root } from '../../attest/public/trusted-root.ts';
import { keptRootPath, readAnchor } from '../../attest/verify/anchors.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { absent, writeDurably } from '../../core/base/files.ts';
import { printable } from '../../core/base/printable.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { outputFailed } from '../command-parts/write-output.ts';
import { type Printer, type Style, styled } from '../terminal/print.ts';

const dayMs = 86_400_000;

/** `writ trust show`: the services of the kept trusted root, or of `--root`, and how old the newest is. */
export async function show(context: CommandContext): Promise<CommandResult> {
  const { options, cwd, env } = context;
  const given = options.value('root');
  const path = given === undefined ? keptRootPath(env) : resolve(cwd, given);
  if (given === undefined && !existsSync(path))
    return succeeded({ roots: [] }, (printer) =>
      printer.line('no trusted root is kept; to keep one: writ trust update FILE'),
    );
  const { bytes, root } = await readRoot(context, path, given ?? path);
  const compared = compareRoots(undefined, root, systemClock.now());
  const services = compared.services.map((service) => {
    const { change: _, ...rest } = toData(service);
    return rest;
  });
  const newest = toNewest(compared);
  const data = { roots: [{ path, sha256: sha256Hex(bytes), newest, services, ended: compared.ended }] };
  return succeeded(data, (printer) => {
    printer.line(printable(path));
    printer.table(compared.services.map((service) => toRow(service).slice(1)));
    printAge(printer, newest, compared);
  });
}

/**
 * `writ trust update NEW`: shows how a trusted root that was obtained elsewhere differs from the one that is kept, or
 * from `--root`, and puts it in its place. TRUST_LOST where it keeps none of the services of a kind.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { args, options, cwd, env } = context;
  const given = options.value('root');
  const name = given ?? keptRootPath(env);
  const path = await realpath(resolve(cwd, name)).catch(() => resolve(cwd, name));
  const mode = await stat(path)
    .then(({ mode }) => mode & 0o777, absent)
    .catch((cause) => {
      throw outputFailed(name, cause);
    });
  const old = mode === undefined ? undefined : await readRoot(context, path, name);
  const found = await readRoot(context, args[0] ?? '', args[0] ?? '');
  const compared = compareRoots(old?.root, found.root, systemClock.now());
  const isSame = old?.bytes.equals(found.bytes) === true;
  const writes = !isSame && compared.lost.length === 0 && !options.flag('dry-run');
  // A rename would replace it all the same, and root may write any file.
  if (writes && mode !== undefined && (mode & 0o222) === 0)
    throw outputFailed(name, new Error('it is read-only'));
  if (writes) await replace(path, found.bytes, mode ?? 0o644, name);
  const data = {
    path,
    before: old === undefined ? null : sha256Hex(old.bytes),
    after: sha256Hex(found.bytes),
    written: writes,
    newest: toNewest(compared),
    services: compared.services.map(toData),
    ended: compared.ended,
  };
  const human = (printer: Printer): void => {
    printer.table(compared.services.map(toRow));
    if (compared.services.some(({ change }) => change === 'removed'))
      printer.line(
        'removed services and periods are no longer trusted: what was signed with them then does not verify',
      );
    printAge(printer, data.newest, compared);
    if (isSame) printer.line(`${printable(name)} is this root already`);
    else if (writes) printer.line(`${printable(name)} was ${old === undefined ? 'created' : 'replaced'}`);
    else printer.line(`${printable(name)} was not changed`);
  };
  if (compared.lost.length === 0) return succeeded(data, human);
  const kinds = compared.lost.map((kind) => `\`${kind}\``).join(', ');
  return refused(
    new WritError('TRUST_LOST', {
      message: `the new root keeps none of the services of ${kinds} that \`${printable(name)}\` trusts`,
      detail: { path, lost: compared.lost },
    }),
    data,
    human,
  );
}

function printAge(
  printer: Printer,
  newest: ReturnType<typeof toNewest>,
  { ended }: Pick<ComparedRoots, 'ended'>,
): void {
  if (ended.length > 0)
    printer.line(
      styled('yellow', 'warning'),
      `: every ${ended.join(', every ')} of the root has ended: nothing that is signed now verifies with it`,
    );
  if (!newest) return;
  const days = newest.age_days;
  const age = days < 0 ? `begins in ${-days} days` : `${days} days old`;
  printer.line(`newest: ${newest.kind} ${newest.name}, ${age}`);
}

async function readRoot(
  context: CommandContext,
  path: string,
  name: string,
): Promise<{ readonly bytes: Buffer; readonly root: Root }> {
  const bytes = await readInput(context, path, { maxBytes: maxTrustedRootBytes });
  const { root } = readAnchor({ name: printable(name), text: '' }, () => parseTrustedRoot(bytes));
  return { bytes, root };
}

async function replace(path: string, bytes: Buffer, mode: number, name: string): Promise<void> {
  try {
    if (name === path) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeDurably(path, bytes, mode);
  } catch (cause) {
    throw outputFailed(name, cause);
  }
}

function toNewest({ newest }: ComparedRoots) {
  if (newest === undefined) return null;
  const { kind, name, sha256, validity } = newest;
  const ageDays = Math.floor((systemClock.now() - validity.startMs) / dayMs);
  return { kind, name: printable(name), sha256, valid_from: toRfc3339(validity.startMs), age_days: ageDays };
}

function toParts({
  validity: { startMs, endMs },
  chainSha256,
}: Pick<ComparedService, 'validity' | 'chainSha256'>) {
  return {
    ...(chainSha256 === '' ? {} : { chain_sha256: chainSha256 }),
    valid_from: toRfc3339(startMs),
    ...(endMs === undefined ? {} : { valid_until: toRfc3339(endMs) }),
  };
}

function toData({ change, kind, name, sha256, before, ...service }: ComparedService) {
  return {
    change,
    kind,
    name: printable(name),
    sha256,
    ...toParts(service),
    ...(before && { before: toParts(before) }),
  };
}

const styles: Readonly<Record<ComparedService['change'], Style>> = {
  added: 'green',
  removed: 'red',
  ended: 'yellow',
  extended: 'yellow',
  changed: 'yellow',
  kept: 'dim',
};

function toRow({ change, kind, name, sha256, validity, chainSha256, before }: ComparedService) {
  const period = ({ startMs, endMs }: ComparedService['validity']): string =>
    `${toRfc3339(startMs).slice(0, 10)}..${endMs === undefined ? '' : toRfc3339(endMs).slice(0, 10)}`;
  const [is, was] = [period(validity), before && period(before.validity)];
  const isOther = before !== undefined && before.chainSha256 !== chainSha256;
  return [
    styled(styles[change], `  ${change}`),
    kind,
    printable(name),
    [
      is,
      `sha256:${sha256.slice(0, 16)}`,
      ...(was === undefined || was === is ? [] : [`was ${was}`]),
      ...(isOther ? [`chain ${chainSha256.slice(0, 16)} was ${before.chainSha256.slice(0, 16)}`] : []),
    ].join('  '),
  ];
}
