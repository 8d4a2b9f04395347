import type { SaidFailure } from './wire-format.ts';

/** A question that was answered with another status than 200. */
export interface RefusedQuestion {
  readonly base: string;
  /** Whether the base was given: the vendor's own is right. */
  readonly isOtherBase: boolean;
  readonly path: string;
  readonly model: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the answer. */
  readonly text: string;
}

const redirects = [301, 302, 303, 307, 308];

/**
 * The failure of a question that was sent to a wrong address: to one that redirects, or below a base where nothing
 * answers. `undefined` where the address is right. A vendor that knows no such model answers 404 too, and names it.
 */
export function wrongAddress(asked: RefusedQuestion, said: SaidFailure): SaidFailure | undefined {
  const { base, isOtherBase, path, status } = asked;
  const [plainPath = ''] = path.split('?', 1);
  const address = `\`${base}${plainPath}\``;
  if (redirects.includes(status)) {
    const to = addressOf(asked.headers.location, `${base}${plainPath}`);
    if (to === undefined)
      return wrong(
        `${address} redirects to another address, which it does not name. Correct \`--api-base\`.`,
      );
    const newBase = to.endsWith(plainPath) ? to.slice(0, -plainPath.length) : undefined;
    return wrong(
      `${address} redirects to \`${to}\`. ${newBase === undefined ? 'Correct `--api-base`.' : `Set \`--api-base\` to \`${newBase}\`.`}`,
    );
  }
  const isUnknownPath =
    status === 405 || (status === 404 && said.kind === 'unknown-model' && !namesModel(asked, said));
  if (!isUnknownPath || !isOtherBase) return undefined;
  return wrong(`no model answers at ${address}. ${correction(base, plainPath)}`);
}

function wrong(found: string): SaidFailure {
  return { kind: 'wrong-address', found };
}

function namesModel({ text, model }: RefusedQuestion, { found }: SaidFailure): boolean {
  if (/^\s*</.test(text)) return false;
  const words = found || text.slice(0, 2000);
  return /model|模型/i.test(words) || (model.length > 3 && words.includes(model));
}

function correction(base: string, path: string): string {
  if (path.startsWith('/api/') && /\/v\d\w{0,9}$/.test(base))
    return `Set \`--api-base\` to \`${base.replace(/\/v\d\w{0,9}$/, '')}\`.`;
  // The paths of the chat dialect stand below a version.
  if (!/\/v\d/.test(`${base}${path}`) && !path.startsWith('/api/'))
    return `Correct \`--api-base\`: many servers answer at \`${base}/v1\`.`;
  return 'Correct `--api-base`.';
}

/** The address in a `Location`, without its query, which may hold secrets. */
function addressOf(location = '', asked: string): string | undefined {
  if (location === '' || location.length > 2048 || !URL.canParse(location, asked)) return undefined;
  const { protocol, origin, pathname } = new URL(location, asked);
  return /^https?:$/.test(protocol) ? `${origin}${pathname}`.slice(0, 300) : undefined;
}
