import type { LockedPackage } from '../locked-package.ts';
import { cleanUrl } from '../origin.ts';
import { placeOf } from '../place-of.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';

const gemCall = /^gem[\s(]+(['"])([^'"#{}]+)\1(.*)$/;
const gemspecCall = /\.add_(runtime_|development_)?dependency[\s(]+(['"])([^'"#{}]+)\2(.*)$/;

/**
 * Gemfile, gems.rb and *.gemspec. They are programs: calls that stand on lines of their own with literal names are read, blocks of
 * `group`, `git`, `github`, `path` and `source` are followed, and a call that cannot be read is a problem.
 */
export function readGemfile(text: string, reading: ReadingBuilder): void {
  reading.note(
    'it is a Ruby program; literal `gem` and `add_dependency` calls in it are read, nothing is executed',
  );
  const blocks: {
    readonly scope?: LockedPackage['scope'];
    readonly source?: SourceKind;
    readonly origin?: string;
  }[] = [];
  let number = 0;
  let comment = false;
  for (const raw of text.split(/\r?\n/)) {
    number += 1;
    if (raw.startsWith('=begin')) comment = true;
    if (raw.startsWith('=end')) {
      comment = false;
      continue;
    }
    const line = raw.trim();
    if (comment || line === '' || line.startsWith('#')) continue;
    if (line === '__END__') break;
    const opens =
      /\bdo\b\s*(?:\|[^|]*\|)?\s*(?:#.*)?$/.test(line) ||
      /^(?:if|unless|case|begin|while|def|class|module)\b/.test(line);
    if (opens) {
      blocks.push(blockOf(line, reading.path));
      continue;
    }
    if (/^end\b/.test(line)) {
      blocks.pop();
      continue;
    }
    const gem = gemCall.exec(line);
    const inSpec = gem ? null : gemspecCall.exec(line);
    if (gem) declare(reading, gem[2] ?? '', gem[3] ?? '', number, scopeOf(blocks, gem[3] ?? ''), blocks);
    else if (inSpec) {
      const scope = inSpec[1] === 'development_' ? 'development' : 'runtime';
      declare(reading, inSpec[3] ?? '', inSpec[4] ?? '', number, scope, []);
    } else if (
      /\bgem[\s(]|\.add_(?:runtime_|development_)?dependency\b|^(?:eval_gemfile|instance_eval|eval)\b|\bload\s*[('"]/.test(
        line.replace(/(['"])(?:(?!\1).)*\1/g, "''"),
      )
    )
      reading.problem(`line ${number} names a gem in a form that is not read`);
  }
}

function blockOf(
  line: string,
  path: string,
): { readonly scope?: LockedPackage['scope']; readonly source?: SourceKind; readonly origin?: string } {
  const call = /^(group|git|github|path|source)\b[\s(]*(.*)$/.exec(line);
  const first = /['"]([^'"]+)['"]/.exec(call?.[2] ?? '')?.[1] ?? '';
  if (call?.[1] === 'group')
    return { scope: /:?(?:default|production)\b/.test(call[2] ?? '') ? 'runtime' : 'development' };
  if (call?.[1] === 'git') return { source: 'git', origin: cleanUrl(first) };
  if (call?.[1] === 'github') return { source: 'git', origin: cleanUrl(`github:${first}`) };
  if (call?.[1] === 'path') return { source: 'path', origin: placeOf(path, first) };
  return {};
}

function scopeOf(
  blocks: readonly { readonly scope?: LockedPackage['scope'] }[],
  options: string,
): LockedPackage['scope'] {
  const group = /(?:\bgroups?:|:groups?\s*=>)\s*(\[[^\]]*\]|:\w+)/.exec(options)?.[1];
  if (group !== undefined) return /default|production/.test(group) ? 'runtime' : 'development';
  return blocks.findLast(({ scope }) => scope !== undefined)?.scope ?? 'runtime';
}

function declare(
  reading: ReadingBuilder,
  name: string,
  options: string,
  line: number,
  scope: LockedPackage['scope'],
  blocks: readonly { readonly source?: SourceKind; readonly origin?: string }[],
): void {
  const inBlock = blocks.findLast(({ source }) => source !== undefined);
  const place = optionSource(options, reading.path) ?? inBlock ?? {};
  const requirement = [...options.replace(/\b\w+:.*$|:\w+\s*=>.*$/s, '').matchAll(/(['"])([^'"]*)\1/g)]
    .map((match) => match[2])
    .join(', ');
  const version = /^(?:=\s*)?(\d[\w.]*)$/.exec(requirement)?.[1];
  reading.declare({
    key: name,
    name,
    requirement,
    scope,
    field: reading.path.endsWith('.gemspec') ? 'add_dependency' : 'gem',
    line,
    source: place.source ?? 'registry',
    ...(place.origin ? { origin: place.origin } : {}),
    ...(version === undefined || place.source ? {} : { version }),
    ...(place.source === 'path' ? { needNotBeLocked: true } : {}),
  });
}

function optionSource(
  options: string,
  path: string,
): { readonly source: SourceKind; readonly origin: string } | undefined {
  const found =
    /(?:\b(git|github|gist|bitbucket|gitlab|path):|:(git|github|gist|bitbucket|gitlab|path)\s*=>)\s*(['"])([^'"]+)\3/.exec(
      options,
    );
  const kind = found?.[1] ?? found?.[2];
  const place = found?.[4] ?? '';
  if (kind === undefined) return undefined;
  if (kind === 'path') return { source: 'path', origin: placeOf(path, place) };
  return { source: 'git', origin: cleanUrl(kind === 'git' ? place : `${kind}:${place}`) };
}
