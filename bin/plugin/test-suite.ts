import type { Environment } from '../../attest/keys/user-config-dir.ts';
import type { PluginGround } from '../../engine/plugin-trust/open-parts.ts';
import type { PartKind } from '../../engine/plugin-trust/part-fields.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import type { PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import type { CaseWatch } from './watch-cases.ts';

/** How a part of a plugin fared in the suite of its kind. */
export interface TestedPart {
  readonly kind: PartKind;
  readonly name: string;
  readonly cases: number;
  readonly failures: readonly string[];
}

/** Where a suite finds and asks a plugin. */
export interface SuitePlace {
  /** As the user named it. */
  readonly place: string;
  readonly ground: Omit<PluginGround, 'outside'>;
  readonly engine: WritEngine;
  readonly env: Environment;
  /** Holds each case to its deadline. */
  readonly watch: CaseWatch;
}

/** Every part of one kind of a plugin through the suite of that kind, in its own process and sandbox. */
export type TestSuite = (
  manifest: PluginManifest,
  pluginPackage: PluginPackage,
  place: SuitePlace,
) => Promise<readonly TestedPart[]>;
