import { parseSignerTime } from './signer-time.ts';

/** Options of one line of an allowed signers file (ssh-keygen(1), ALLOWED SIGNERS). */
export interface SignerOptions {
  /** Pattern list; absent: any namespace. */
  readonly namespaces?: string;
  /** Epoch milliseconds. */
  readonly validAfterMs?: number;
  readonly validBeforeMs?: number;
}

const option = /^([A-Za-z-]+)(?:="((?:[^"\\]|\\.)*)")?(?:,|$)/;

/** Reads the options, or says why the line cannot be used: anything not understood, said twice, or contradictory. */
export function parseSignerOptions(text: string): SignerOptions | string {
  const given = new Map<string, string>();
  for (let rest = text; rest !== ''; ) {
    const found = option.exec(rest);
    const name = found?.[1]?.toLowerCase();
    if (!found || name === undefined || (found[0] === rest && rest.endsWith(',')))
      return 'options that cannot be read';
    if (name === 'cert-authority') return 'certificate authorities are not supported';
    if (!['namespaces', 'valid-after', 'valid-before'].includes(name))
      return `the unknown option \`${name.slice(0, 64)}\``;
    if (given.has(name)) return `\`${name}\` is given twice`;
    if (found[2] === undefined) return `\`${name}\` wants a value in double quotes`;
    given.set(name, found[2].replace(/\\(["\\])/g, '$1'));
    rest = rest.slice(found[0].length);
  }
  const namespaces = given.get('namespaces');
  const times = ['valid-after', 'valid-before'].map((name) => {
    const value = given.get(name);
    return value === undefined
      ? undefined
      : (parseSignerTime(value) ?? `\`${name}\` is no time: \`${value.slice(0, 32)}\``);
  });
  for (const time of times) if (typeof time === 'string') return time;
  const [after, before] = times as readonly (number | undefined)[];
  if (after !== undefined && before !== undefined && before <= after)
    return '`valid-before` is not after `valid-after`';
  return {
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(after === undefined ? {} : { validAfterMs: after }),
    ...(before === undefined ? {} : { validBeforeMs: before }),
  };
}
