/* The interface of model providers. */
import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import type { HttpStreamer, PlainHttpHosts } from '../base/http-question.ts';
import { printable } from '../base/printable.ts';
import type { FailureKind, ModelEvent, ModelRequest, ModelUsage } from './model.ts';
import type { ModelExchange } from './model-work.ts';
import type { AgentSource } from './worker.ts';

/** A backend that answers as a model. Each try of a turn is one `ask` call; turns of several Tasks run in parallel. */
export interface Provider {
  readonly name: string;
  /**
   * Streams the reply; the last event is `end`. Throws PROVIDER_FAILED (see `providerFailure`) if there is no reply,
   * and the signal's reason on abort. Throws PROVIDER_OPTION if a flag is not valid for the model. Sends one request;
   * the engine does the retries. A provider over HTTP reports the exchange to `heard`.
   */
  ask(
    request: ModelRequest,
    signal: AbortSignal,
    heard?: (exchange: ModelExchange) => void,
  ): AsyncIterable<ModelEvent>;
  /** What a turn costs, in units of 0.001 USD; absent, or no number: one unit for a thousand tokens. */
  costUnits?(model: string, usage: ModelUsage): number | undefined;
  /** Maximum tokens of request and reply together. Absent if unknown. */
  contextTokens?(model: string): number | undefined;
  takesImages?(model: string): boolean;
}

/** Endpoint and credentials of a provider. */
export interface ReachedProvider extends Pick<ProviderSetting, 'key' | 'base' | 'isOtherBase'> {
  /** Values, beside the key, that no prompt may hold. */
  readonly secrets?: readonly string[];
  /**
   * Wraps the connection between the provider and the network, for example to record its traffic. It receives the
   * model and flags with which the provider is opened.
   */
  through?(stream: HttpStreamer, model: string, flags: ProviderSetting['flags']): Promise<HttpStreamer>;
}

/** Finds the base URL and key of a provider. Throws PROVIDER_KEY_MISSING, PROVIDER_KEY_UNUSABLE or PROVIDER_OPTION. */
export type ReachProvider = (
  name: string,
  source: ProviderSource,
  apiBase: string | undefined,
  /** Hosts that the policy commit allows over plain HTTP. */
  plainHttp?: PlainHttpHosts,
) => Promise<ReachedProvider>;

/** A flag of one provider. writ refuses it for every other provider. */
export interface ProviderFlag {
  /** Without dashes, e.g. `deepseek-thinking`. */
  readonly name: string;
  readonly alias?: string;
  /** Empty: any text on one line. */
  readonly values: readonly string[];
  /** Its value is a path where a slash is in it. */
  readonly isPath?: true;
  /** Aliases of values: each maps to one of `values`. */
  readonly spellings?: Readonly<Record<string, string>>;
  /** The flag's value when it is given without one. Absent: a value is required. */
  readonly bare?: string;
  /** Environment variable that is read if the flag is not given. */
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
  /** The intended model, if known. Options that are not valid for it are refused on opening. */
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
  /** Allowed keys of `[providers.<name>]` in the configuration, with their values. They are passed with the flags. */
  readonly settings?: Readonly<Record<string, readonly string[]>>;
  /** For a name that continues after a colon (`replay:DIR`): returns the source for the text after the colon. */
  readonly at?: (place: string) => Promise<ProviderSource>;
  /** Its answers come from a recording. */
  readonly replays?: true;
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
