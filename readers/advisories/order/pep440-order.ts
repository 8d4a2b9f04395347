import { compareDigits, compareText } from './digits.ts';

interface Pep440 {
  readonly epoch: string;
  readonly release: readonly string[];
  /** Phase and number; a development release of a final one sorts before every pre-release. */
  readonly pre: readonly [phase: number, number: string];
  readonly post: readonly [phase: number, number: string];
  readonly dev: readonly [phase: number, number: string];
  readonly local: readonly string[];
}

const form =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?([-_.]?dev[-_.]?(\d+)?)?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/;
const phases: Readonly<Record<string, number>> = {
  a: 0,
  alpha: 0,
  b: 1,
  beta: 1,
  c: 2,
  rc: 2,
  pre: 2,
  preview: 2,
};

/** Order of PEP 440, normalisation included. `undefined` where one of the two is no such version. */
export function comparePep440(left: string, right: string): number | undefined {
  const a = parse(left);
  const b = parse(right);
  if (!a || !b) return undefined;
  return (
    compareDigits(a.epoch, b.epoch) ||
    compareRelease(a.release, b.release) ||
    comparePhase(a.pre, b.pre) ||
    comparePhase(a.post, b.post) ||
    comparePhase(a.dev, b.dev) ||
    compareLocal(a.local, b.local)
  );
}

function parse(text: string): Pep440 | undefined {
  const found = form.exec(text.trim().toLowerCase());
  if (!found) return undefined;
  const [
    ,
    epoch = '0',
    release = '',
    phase,
    preNumber = '0',
    bare,
    postWord,
    postNumber,
    dev,
    devNumber = '0',
    local,
  ] = found;
  const isPost = bare !== undefined || postWord !== undefined;
  const isDev = dev !== undefined;
  const early = -1;
  const late = 9;
  return {
    epoch,
    release: release.split('.'),
    pre:
      phase !== undefined ? [phases[phase] ?? 0, preNumber] : isDev && !isPost ? [early, '0'] : [late, '0'],
    post: isPost ? [1, bare ?? postNumber ?? '0'] : [0, '0'],
    dev: isDev ? [0, devNumber] : [1, '0'],
    local: local === undefined ? [] : local.split(/[-_.]/),
  };
}

function compareRelease(left: readonly string[], right: readonly string[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const order = compareDigits(left[at] ?? '0', right[at] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
}

function comparePhase(left: readonly [number, string], right: readonly [number, string]): number {
  return left[0] - right[0] || compareDigits(left[1], right[1]);
}

/** None sorts first; numbers after words; the longer of two that begin alike last. */
function compareLocal(left: readonly string[], right: readonly string[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const a = left[at] ?? '';
    const b = right[at] ?? '';
    const isNumber = /^\d+$/.test(a);
    if (isNumber !== /^\d+$/.test(b)) return isNumber ? 1 : -1;
    const order = isNumber ? compareDigits(a, b) : compareText(a, b);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
