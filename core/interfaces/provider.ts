import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import type { HttpStreamer } from '../base/http-question.ts';
import { printable } from '../base/printable.ts';
import type { PlainHttpHosts } from '../base/service-url.ts';
import type { FailureKind, ModelEvent, ModelRequest, ModelUsage } from './model.ts';
import type { AgentSource } from './worker.ts';

/** A backend that answers as a model. One `ask` per try of a turn; turns of several Tasks go on side by side. */
export interface Provider {
  readonly name: string;
  /**
   * The reply, as it comes; ends with `end`. PROVIDER_FAILED (see `providerFailure`) where there is none, the signal's
   * reason where it aborts, PROVIDER_OPTION where a flag does not go with the model. Asks once: retries are the
   * engine's.
   */
  ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** What a turn costs, in units of 0.001 USD; absent, or no number: one unit for a thousand tokens. */
  costUnits?(model: string, usage: ModelUsage): number | undefined;
  /** Tokens that a question and its reply may have together; absent where nobody knows. */
  contextTokens?(model: string): number | undefined;
}

/** Where a provider is asked, and with what. */
export interface ReachedProvider extends Pick<ProviderSetting, 'key' | 'base' | 'isOtherBase'> {
  /** Values, beside the key, that no prompt may hold. */
  readonly secrets?: readonly string[];
  /** Stands between the provider and the network, and is told how it is opened: it writes down what goes by, say. */
  through?(stream: HttpStreamer, model: string, flags: ProviderSetting['flags']): Promise<HttpStreamer>;
}

/**
 * Finds base and key of a provider (resolutions, Credentials). PROVIDER_KEY_MISSING, PROVIDER_KEY_UNUSABLE,
 * PROVIDER_OPTION.
 */
export type ReachProvider = (
  name: string,
  source: ProviderSource,
  apiBase: string | undefined,
  /** Hosts that the policy commit lets be asked over plain HTTP. */
  plainHttp?: PlainHttpHosts,
) => Promise<ReachedProvider>;

/** A flag of one provider, refused for every other (document 2, Options). */
export interface ProviderFlag {
  /** Without dashes, e.g. `deepseek-thinking`. */
  readonly name: string;
  readonly alias?: string;
  /** Empty: any text on one line. */
  readonly values: readonly string[];
  /** Its value is a path where a slash is in it. */
  readonly isPath?: true;
  /** Other ways to write a value: each stands for one of `values`. */
  readonly spellings?: Readonly<Record<string, string>>;
  /** What the flag says where it stands without a value; absent: it wants one. */
  readonly bare?: string;
  /** Environment variable that is asked where the flag is not given. */
  readonly variable?: string;
  readonly says: string;
}

/** What a provider is opened with. */
export interface ProviderSetting {
  /** Absent where none was found and none is needed. */
  readonly key?: string;
  /** Without a slash at its end. */
  readonly base: string;
  /** Whether `base` was given, and is not the vendor's own. */
  readonly isOtherBase: boolean;
  /** The model that is meant to be asked, where that is known: what does not go with it is refused at opening. */
  readonly model?: string;
  /** Values of the provider's own flags, checked, by name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly stream: HttpStreamer;
  readonly clock: Clock;
}

/** Opens a provider (slot `provider`), picked by name with `--provider`. */
export interface ProviderSource {
  /** As people call it. */
  readonly title: string;
  /** Names under which its key is looked up; the first is the one that errors name. Empty: it has no key. */
  readonly keys: readonly string[];
  /** Whether it answers without a key at this base. */
  readonly keyless?: (base: string) => boolean;
  readonly base: string;
  /** Variables that name another base, where `--api-base` does not. */
  readonly baseVariables?: readonly string[];
  /** What people write for its base, as an absolute URL; a text that it cannot read it gives back. */
  readonly toBase?: (given: string) => string;
  readonly defaultModel: string;
  readonly flags: readonly ProviderFlag[];
  /** What `[providers.<name>]` of the configuration may say, and its values; handed over among the flags. */
  readonly settings?: Readonly<Record<string, readonly string[]>>;
  /** Where a name goes on behind a colon: the source that it means with what stands there (`replay:DIR`). */
  readonly at?: (place: string) => Promise<ProviderSource>;
  /** Where it is a program that works by itself; `open` gives what is known of its models. */
  readonly agent?: AgentSource<Pick<ProviderFailure, 'kind' | 'found' | 'retryAfterSeconds'>>;
  /** PROVIDER_OPTION where flags and model do not go together. */
  open(setting: ProviderSetting): Provider | Promise<Provider>;
}

/** What is known of a failed question. */
export interface ProviderFailure {
  readonly provider: string;
  readonly kind: FailureKind;
  /** The vendor's own words; untrusted, bounded here. */
  readonly found: string;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** What the vendor calls the question. */
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** PROVIDER_FAILED, with `detail {provider, kind, status?, retryAfterSeconds?, requestId?}`. */
export function providerFailure({ found, cause, ...facts }: ProviderFailure): WritError {
  const { provider, kind, status, requestId } = facts;
  const told = printable(found.slice(0, 500)).trim();
  const answered = status === undefined ? '' : ` (HTTP ${status})`;
  return new WritError('PROVIDER_FAILED', {
    message: `provider \`${provider}\` gave no reply: ${kind}${answered}${told === '' ? '' : `: ${told}`}${requestId === undefined ? '' : ` [request ${requestId}]`}`,
    detail: { ...facts },
    ...(cause === undefined ? {} : { cause }),
  });
}
