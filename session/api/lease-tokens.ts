import { sha256Hex } from '../../core/base/digest.ts';
import { makeToken } from '../../http/discovery.ts';

/** A token for whoever attaches now, and what a state would know it by. */
export interface OfferedToken {
  readonly token: string;
  readonly tokenDigest: string;
}

export function offerToken(): OfferedToken {
  const token = makeToken();
  return { token, tokenDigest: digestOf(token) };
}

/** What a state knows a token by: it holds nothing that anybody could send. */
export function digestOf(token: string): string {
  return sha256Hex(token);
}

/** Keeps the token of the lease that is live: the state has its digest alone. */
export function keepToken(): (granted: string, offered: OfferedToken) => string | undefined {
  let held: OfferedToken | undefined;
  return (granted, offered) => {
    if (offered.tokenDigest === granted) held = offered;
    return held?.tokenDigest === granted ? held.token : undefined;
  };
}
