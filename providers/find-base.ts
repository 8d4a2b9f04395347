import { WritError } from '../core/base/errors.ts';
import { type PlainHttpHosts, plainHttpHost, serviceUrlFault } from '../core/base/service-url.ts';
import type { ProviderSource } from '../core/contract/provider.ts';

/** Where a provider is asked. */
export interface FoundBase {
  /** Without a slash at its end. */
  readonly base: string;
  readonly isOtherBase: boolean;
  /** `--api-base`, or the variable that named it; absent where it is the vendor's own. */
  readonly from?: string;
}

/**
 * The base of a provider: as given with `--api-base`, else as the first of its variables that says something, else the
 * vendor's own. PROVIDER_OPTION for what is no address of a service, and for plain HTTP beyond the loopback at a host
 * that is not in `plainHttp`.
 */
export function findBase(
  { base: own, baseVariables = [], toBase }: Pick<ProviderSource, 'base' | 'baseVariables' | 'toBase'>,
  apiBase: string | undefined,
  env: (variable: string) => string | undefined,
  plainHttp: PlainHttpHosts = [],
): FoundBase {
  const from =
    apiBase === undefined ? baseVariables.find((name) => (env(name) ?? '').trim() !== '') : '--api-base';
  if (from === undefined) return { base: own, isOtherBase: false };
  const given = (apiBase ?? env(from) ?? '').trim();
  const base = (toBase?.(given) ?? given).replace(/\/{1,8}$/, '');
  const fault = serviceUrlFault(base, plainHttp);
  if (fault !== undefined) {
    const host = serviceUrlFault(base, 'any') === undefined ? plainHttpHost(base) : undefined;
    throw new WritError('PROVIDER_OPTION', {
      // What was found may hold a password or a key.
      message: `\`${from}\` names no address that a model can be asked at: ${fault}`,
      detail: { place: from, expected: fault },
      ...(host === undefined
        ? {}
        : {
            hints: [
              `to ask it over plain HTTP, commit \`[models] allow_http = ["${host}"]\` to \`.writ/config.toml\`: prompts and the key are then sent in the clear`,
            ],
          }),
    });
  }
  return { base, isOtherBase: base !== own, from };
}
