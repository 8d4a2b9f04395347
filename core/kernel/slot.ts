/* Slots: registries from which one implementation is selected by name. */
import { WritError } from '../base/errors.ts';
import { nearestName } from '../base/printable.ts';
import type { ArtifactProducer } from '../interfaces/artifact.ts';
import type { CheckRunner } from '../interfaces/check.ts';
import type { EvidencePolicy } from '../interfaces/privacy.ts';
import type { ProviderSource } from '../interfaces/provider.ts';
import type { PolicyEngine } from '../interfaces/rule.ts';
import type { SandboxBackend } from '../interfaces/sandbox.ts';
import type { LogSource, SignerSource } from '../interfaces/sealing.ts';
import type { StoreSource } from '../interfaces/store-source.ts';
import type { WorkerSource } from '../interfaces/worker.ts';

/**
 * Registers implementations of a slot, for plugins. A duplicate name throws SLOT_DUPLICATE; after set-up every call
 * throws HOOK_FROZEN.
 */
export interface SlotDoor<T> {
  add(name: string, implementation: T): void;
  /** `make` runs when the name is first selected, at most once. */
  addLazy(name: string, make: () => T | Promise<T>): void;
}

/** A registry from which exactly one implementation is selected by name. */
export interface Slot<T> extends SlotDoor<T> {
  readonly name: string;
  readonly names: readonly string[];
  /**
   * Throws SLOT_UNKNOWN with a list of the known names. Rejects with the error of a lazy `make`; the next call runs
   * `make` again.
   */
  pick(name: string): Promise<T>;
  freeze(): void;
}

/** Slots with the types of their implementations. */
export interface SlotMap {
  readonly provider: ProviderSource;
  readonly worker: WorkerSource;
  readonly check: CheckRunner;
  readonly evidence: EvidencePolicy;
  readonly artifact: ArtifactProducer;
  readonly sandbox: SandboxBackend;
  readonly signer: SignerSource;
  readonly log: LogSource;
  readonly store: StoreSource;
  readonly policy: PolicyEngine;
}

export type Slots = { readonly [Name in keyof SlotMap]: Slot<SlotMap[Name]> };
export type PluginSlots = { readonly [Name in keyof SlotMap]: SlotDoor<SlotMap[Name]> };

export function createSlots(): Slots {
  return Object.freeze({
    provider: createSlot<ProviderSource>('provider'),
    worker: createSlot<WorkerSource>('worker'),
    check: createSlot<CheckRunner>('check'),
    evidence: createSlot<EvidencePolicy>('evidence'),
    artifact: createSlot<ArtifactProducer>('artifact'),
    sandbox: createSlot<SandboxBackend>('sandbox'),
    signer: createSlot<SignerSource>('signer'),
    log: createSlot<LogSource>('log'),
    store: createSlot<StoreSource>('store'),
    policy: createSlot<PolicyEngine>('policy'),
  });
}

export function createSlot<T>(slot: string): Slot<T> {
  const makers = new Map<string, () => Promise<T>>();
  let frozen = false;
  const register = (name: string, make: () => Promise<T>) => {
    if (frozen) {
      throw new WritError('HOOK_FROZEN', {
        message: `\`${name}\` was added to slot \`${slot}\` after set-up`,
        detail: { slot, name },
      });
    }
    if (typeof name !== 'string' || name === '') {
      throw new WritError('PLUGIN_INVALID', { message: `slot \`${slot}\` needs a name`, detail: { slot } });
    }
    if (makers.has(name)) {
      throw new WritError('SLOT_DUPLICATE', {
        message: `slot \`${slot}\` already has \`${name}\``,
        detail: { slot, name },
      });
    }
    makers.set(name, make);
  };
  return {
    name: slot,
    get names() {
      return [...makers.keys()];
    },
    add: (name, implementation) => register(name, async () => implementation),
    addLazy: (name, make) => register(name, once(make)),
    async pick(name) {
      const make = makers.get(name);
      if (make) return make();
      const known = [...makers.keys()];
      const meant = nearestName(name, known);
      throw new WritError('SLOT_UNKNOWN', {
        message: `slot \`${slot}\` has no \`${name}\``,
        detail: { slot, name, known },
        hints: [
          ...(meant === undefined ? [] : [`did you mean \`${meant}\`?`]),
          known.length === 0
            ? `nothing is registered in slot \`${slot}\``
            : `there is ${known.map((one) => `\`${one}\``).join(', ')}`,
        ],
      });
    },
    freeze() {
      frozen = true;
    },
  };
}

function once<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= (async () => make())().catch((fault) => {
      made = undefined;
      throw fault;
    });
    return made;
  };
}
