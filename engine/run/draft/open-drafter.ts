import { WritError } from '../../../core/base/errors.ts';
import type { Worker } from '../../../core/contract/worker.ts';
import { findPlugins } from '../../plugin-trust/find-plugins.ts';
import { openPlugins } from '../../plugin-trust/open-plugins.ts';
import { noPluginAccess } from '../../plugin-trust/plugin-access.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { pickSandbox } from '../../tool/pick-sandbox.ts';
import { pluginCacheOf } from '../open/prepare-ground.ts';
import { maxMemoryBytes } from '../state/max-memory-bytes.ts';
import { type OpenModel, openModel } from '../state/open-model.ts';
import { isBuiltIn } from '../state/pick-provider.ts';
import type { RunRequest } from '../state/run-request.ts';
import type { DraftGround } from './draft-ground.ts';

/** A worker that drafts with a model. */
type Drafter = Worker & Required<Pick<Worker, 'draft' | 'model'>>;

/** The model that drafts; disposing of it ends the process of the plugin that it `isLent` by. */
export interface OpenDrafter extends AsyncDisposable {
  readonly model: OpenModel;
  readonly isLent: boolean;
}

/** DRAFT_UNSUPPORTED before anything is opened or asked. */
export function requireDrafter(worker: Worker | undefined, named: string): Drafter {
  const { draft, model } = worker ?? {};
  if (worker !== undefined && draft !== undefined && model !== undefined) return { ...worker, draft, model };
  throw new WritError('DRAFT_UNSUPPORTED', {
    message: `\`${model?.provider ?? named}\` drafts no contracts: it does Tasks of one, and nothing else`,
    detail: { provider: model?.provider ?? named },
    hints: [
      'have another provider draft it, `--provider openai` say, and let it wait; or write it: `writ spec new`',
      `then work it: \`writ run FILE --provider ${model?.provider ?? 'NAME'}\``,
    ],
  });
}

/**
 * Opens the model of a drafter: a built-in one, or that of a plugin which the policy commit lists and the user trusts.
 */
export async function openDrafter(
  engine: WritEngine,
  worker: Drafter,
  request: Pick<RunRequest, 'reach' | 'model' | 'pluginAccess' | 'outside'>,
  { config, policyTree, repository }: Pick<DraftGround, 'config' | 'policyTree' | 'repository'>,
): Promise<OpenDrafter> {
  const isLent = !isBuiltIn(engine, worker.model.provider);
  const { pluginAccess: access = noPluginAccess, outside } = request;
  const plugins = isLent
    ? await openPlugins(
        await findPlugins(repository, policyTree, config.plugins, access),
        {
          cacheDir: pluginCacheOf(repository),
          maxMemoryBytes: maxMemoryBytes(config),
          sandbox: () => pickSandbox('auto', engine.slots.sandbox),
          access,
          ...(outside === undefined ? {} : { outside }),
        },
        { providers: engine.slots.provider.names },
      )
    : undefined;
  const close = async (): Promise<void> => plugins?.parts.close();
  try {
    const model = await openModel(engine, worker, request, {
      config,
      ...(plugins === undefined ? {} : { plugins: plugins.parts }),
    });
    if (model === undefined) throw new WritError('NO_WORKER');
    return { model, isLent, [Symbol.asyncDispose]: close };
  } catch (fault) {
    await close();
    throw fault;
  }
}
