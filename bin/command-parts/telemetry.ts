/* Traces of sessions and runs for OpenTelemetry: names of parts, durations, codes and counts, never content. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type ModelCallEvent, modelCallEvents } from '../../agent/model-loop/model-turns.ts';
import { readVersion } from '../../api/build.ts';
import { type RunEvent, runEventsPlugin } from '../../api/run/run-events.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import { type TurnEvent, turnEvents } from '../../session/open-channel.ts';

/** How long a collector that does not answer may delay the end of a command. */
const flushMs = 2_000;

/**
 * Sends a span for each turn, run, stage, check, tool call and model call to the collector that `OTEL_*` names. What
 * the collector does changes nothing but, by at most two seconds, the end of the command. Throws what the library
 * refuses of `OTEL_*`.
 */
export function telemetryPlugin(env: Readonly<Record<string, string | undefined>>): LoadedPlugin {
  const isTimed = env.OTEL_EXPORTER_OTLP_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT;
  const exporter = new OTLPTraceExporter(isTimed === undefined ? { timeoutMillis: flushMs } : {});
  const own = resourceFromAttributes({ 'service.name': 'writ', 'service.version': readVersion() });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: flushMs })],
  });
  const tracer = provider.getTracer('writ', readVersion());
  /** Spans of runs, turns and model calls that have not ended. The last of runs and turns holds what begins. */
  const runs = new Map<string, Span>();
  const turns = new Map<string, Span>();
  const calls = new Map<object, Span>();
  const stageSince = new Map<string, number>();
  const begin = (
    name: string,
    attributes: Attributes,
    more: { startTime?: number; kind?: SpanKind } = {},
  ) => {
    const holder = [...turns.values(), ...runs.values()].at(-1);
    const context = holder === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, holder);
    return tracer.startSpan(name, { attributes, ...more }, context);
  };
  const end = (span: Span | undefined, attributes: Attributes, isFailed: boolean): void => {
    span?.setAttributes(attributes);
    if (isFailed) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
  };
  const onRun = ({ type, data }: RunEvent): void => {
    const { run_id: id } = data;
    const ofRun = { 'writ.run.id': id };
    switch (type) {
      case 'run_started':
        // The tools of a talk have an id like a run, and no decision ends it.
        if (data.resumed && turns.size > 0) return;
        runs.set(id, begin('run', { ...ofRun, 'writ.run.resumed': data.resumed }));
        return;
      case 'tool_settled': {
        const startTime = systemClock.now() - data.duration_ms;
        const { check_id: check, exit_code: exit } = data;
        if (check !== undefined) stageSince.set(id, Math.min(stageSince.get(id) ?? startTime, startTime));
        const attributes = {
          ...ofRun,
          'gen_ai.operation.name': check === undefined ? 'execute_tool' : undefined,
          'gen_ai.tool.name': data.tool,
          'writ.check.id': check,
          'writ.tool.outcome': data.outcome,
          'process.exit.code': exit,
        };
        const span = begin(check === undefined ? `execute_tool ${data.tool}` : 'check', attributes, {
          startTime,
        });
        end(span, {}, data.outcome !== 'done');
        return;
      }
      case 'stage_settled': {
        const startTime = stageSince.get(id) ?? systemClock.now();
        stageSince.delete(id);
        const { stage, status, expected, ran } = data;
        const counts = { 'writ.stage.checks.expected': expected, 'writ.stage.checks.ran': ran };
        const span = begin(
          `stage ${stage}`,
          { ...ofRun, 'writ.stage.name': stage, ...counts },
          { startTime },
        );
        end(span, { 'writ.stage.status': status }, status === 'failed');
        return;
      }
      case 'decision_made':
        end(runs.get(id), { 'writ.decision': data.type }, false);
        runs.delete(id);
        return;
      default:
    }
  };
  const onCall = heard<ModelCallEvent>(({ call, provider: vendor, model, ended }) => {
    if (ended === undefined) {
      const attributes = {
        'gen_ai.operation.name': 'chat',
        // `replay:DIR` names a directory.
        'gen_ai.provider.name': vendor.split(':')[0],
        'gen_ai.request.model': model,
      };
      calls.set(call, begin(`chat ${model}`, attributes, { kind: SpanKind.CLIENT }));
      return;
    }
    const { usage } = ended;
    const tokens = {
      'gen_ai.usage.input_tokens': usage?.input,
      'gen_ai.usage.output_tokens': usage?.output,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedInput,
    };
    end(calls.get(call), tokens, usage === undefined);
    calls.delete(call);
  });
  const onTurn = heard<TurnEvent>(({ turn, end: how }) => {
    if (how === undefined) turns.set(turn, begin('turn', { 'writ.turn.id': turn }));
    else {
      end(turns.get(turn), { 'writ.turn.end': how }, how === 'failed');
      turns.delete(turn);
    }
  });
  subscribe(modelCallEvents.name, onCall);
  subscribe(turnEvents.name, onTurn);
  return runEventsPlugin('telemetry', heard(onRun), async () => {
    unsubscribe(modelCallEvents.name, onCall);
    unsubscribe(turnEvents.name, onTurn);
    for (const span of [...calls.values(), ...runs.values(), ...turns.values()]) span.end();
    // Ends within `exportTimeoutMillis`. A lost span is no fault of the command.
    await provider.shutdown().catch(() => undefined);
  });
}

/** A listener that throws nothing into what it listens to. */
function heard<Event>(listen: (event: Event) => void): (event: unknown) => void {
  return (event) => {
    try {
      listen(event as Event);
    } catch {
      // A span is lost, and nothing else.
    }
  };
}
