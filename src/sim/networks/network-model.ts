/** A model of a network of any topology: routers and terminals, with credits between them. */
import {
  float,
  int,
  type OptionSpecs,
  type OptionValues,
  oneOf,
  text,
} from '../../model/option.ts';
import { defineModel } from '../define-model.ts';
import { type Model, ModelError } from '../model.ts';
import { drawing, linkSamples } from './drawing.ts';
import { message, type NetworkParams } from './packets.ts';
import { finishRouter, handleRouter, initRouter, routerState } from './router.ts';
import { finishTerminal, handleTerminal, initTerminal, terminalState } from './terminal.ts';
import { circlePlace, type NetworkTopology } from './topology.ts';
import { readTrace, type Trace } from './trace.ts';
import { PATTERNS, patternOf } from './traffic.ts';

/** A network as a model: what `networkModel` needs to know. */
export interface NetworkDeclaration<O extends OptionSpecs> {
  /** Lower case, as it appears in commands. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** The topology's own options: its sizes, its routing. */
  readonly options: O;
  /** The network for given values of these options. @throws ModelError for invalid values */
  topology(options: OptionValues<O>): NetworkTopology;
}

const MOST_LPS = 2 ** 22;
const ENDLESS = 0;

const common = {
  traffic: oneOf(
    Object.fromEntries(PATTERNS.map((name, k) => [name, k])),
    'uniform',
    'to whom terminals send',
  ),
  load: float(0.3, 'flits per time unit that each terminal offers', { min: 0, max: 1 }),
  trace: text('', 'file of an MPI trace that terminals replay, instead of --traffic'),
  'flit-bytes': int(32, 'bytes of a flit, for messages of --trace', { min: 1 }),
  shift: int(1, 'how far --traffic=shift is, in terminals', { min: 1 }),
  hot: float(0.1, 'share of packets that --traffic=hotspot sends to terminal 0', {
    min: 0,
    max: 1,
  }),
  'inject-for': float(ENDLESS, 'time from which on no packets are made; 0: until the end', {
    min: 0,
  }),
  'packet-size': int(4, 'flits of a packet; a link sends one per time unit', {
    min: 1,
    max: 65535,
  }),
  buffer: int(8, 'packets that an input holds on each virtual channel', { min: 1, max: 4096 }),
  'router-delay': float(1, 'time of a flit through a router', { min: 0 }),
  'link-latency': float(5, 'time of a flit along a link', { min: 0 }),
  'global-latency': float(5, 'the same of long links, where the network has them', { min: 0 }),
};

type Common = OptionValues<typeof common>;
type Values = OptionValues<OptionSpecs>;

/** Which LP is which router or terminal. */
function placesOf(t: NetworkTopology) {
  const withTerminals = Array.from({ length: t.routers }, (_, r) => t.hasTerminals(r));
  const terminals = withTerminals.filter(Boolean).length * t.concentration;
  const places = new Int32Array(t.routers + terminals);
  const routerLps = new Int32Array(t.routers);
  const homes = new Int32Array(terminals);
  const firstTerminals = new Int32Array(t.routers).fill(-1);
  let lp = 0;
  let terminal = 0;
  for (let r = 0; r < t.routers; r++) {
    routerLps[r] = lp;
    places[lp++] = r;
    if (withTerminals[r]) firstTerminals[r] = terminal;
    for (let k = 0; k < t.concentration && withTerminals[r]; k++) {
      homes[terminal] = r;
      places[lp++] = -1 - terminal++;
    }
  }
  return { places, routerLps, homes, firstTerminals };
}

type NetworkTables = Trace &
  Pick<NetworkParams, 'links' | 'places' | 'routerLps' | 'homes' | 'firstTerminals'>;

const traceTables = {
  first: (o: Common) => readTrace(o.trace).tables.first,
  what: (o: Common) => readTrace(o.trace).tables.what,
  peer: (o: Common) => readTrace(o.trace).tables.peer,
  amount: (o: Common) => readTrace(o.trace).tables.amount,
  slot: (o: Common) => readTrace(o.trace).tables.slot,
};

/** What handlers know about the network. @throws ModelError for options that contradict each other */
function paramsOf(
  o: Common,
  topology: NetworkTopology,
  tables: NetworkTables,
  { lookahead, end }: { readonly lookahead: number; readonly end: number },
): NetworkParams {
  const terminals = tables.homes.length;
  if (topology.longest > 255)
    throw new ModelError(`routes of ${topology.longest} links; at most 255 are possible`);
  if (terminals < 2) throw new ModelError('a network needs at least two terminals');
  const links = ['link-latency', ...(topology.isLong ? ['global-latency'] : [])] as const;
  for (const name of links as readonly ('link-latency' | 'global-latency')[]) {
    if (o[name] < lookahead)
      throw new ModelError(`--${name}=${o[name]} is less than --lookahead=${lookahead}`);
  }
  const packetSize = o['packet-size'];
  const ranks = o.trace === '' ? 0 : tables.first.length - 1;
  if (ranks > terminals)
    throw new ModelError(
      `--trace=${o.trace}: it has ${ranks} ranks, and the network ${terminals} terminals`,
    );
  return {
    ...tables,
    isTraced: o.trace !== '',
    trace: tables,
    flitBytes: o['flit-bytes'],
    routes: topology.routes(tables.links),
    placeOf: (router) => topology.place?.(router) ?? circlePlace(router, topology.routers),
    ports: topology.ports,
    concentration: topology.concentration,
    channels: topology.channels,
    terminals,
    buffer: o.buffer,
    routerDelay: o['router-delay'],
    latency: o['link-latency'],
    globalLatency: o['global-latency'],
    isLong: topology.isLong ?? (() => false),
    packetSize,
    interval: packetSize / o.load,
    until: o['inject-for'] === ENDLESS ? end : o['inject-for'],
    pattern: patternOf(o.traffic, {
      terminals,
      shift: o.shift,
      hot: o.hot,
      worst: topology.worst,
    }),
  };
}

/**
 * Makes a model of a network. The sizes and routes are the topology's; traffic, buffers, credits and results are the same for all.
 * @throws ModelError for options that a model cannot have
 * @example
 * ```ts
 * import { int } from 'triscope/sim';
 * import { networkModel } from 'triscope/sim/networks';
 *
 * // Routers in a ring, with a terminal each; packets go upwards, and on another channel once they have passed router 0.
 * export default networkModel({
 *   name: 'ring',
 *   help: 'a ring of routers',
 *   options: { routers: int(8, 'how many there are', { min: 3 }) },
 *   topology: ({ routers }) => ({
 *     routers,
 *     ports: 2,
 *     concentration: 1,
 *     hasTerminals: () => true,
 *     channels: 2,
 *     longest: routers - 1,
 *     links: () => Int32Array.from({ length: 2 * routers }, (_, k) => {
 *       const router = Math.floor(k / 2);
 *       const other = k % 2 === 0 ? (router + 1) % routers : (router + routers - 1) % routers;
 *       return other * 2 + (k % 2 === 0 ? 1 : 0);
 *     }),
 *     routes: () => ({
 *       via: () => -1,
 *       reached: () => true,
 *       port: () => 0,
 *       channel: (router, from, channel) => (from < 0 ? 0 : router === 0 ? 1 : channel),
 *     }),
 *   }),
 * });
 * ```
 */
export function networkModel<const O extends OptionSpecs>(network: NetworkDeclaration<O>): Model {
  // The sizes of fields ask for the same network again and again.
  const made: { key: string; topology: NetworkTopology | undefined } = {
    key: '',
    topology: undefined,
  };
  const topologyOf = (given: object): NetworkTopology => {
    const own = Object.keys(network.options).map(
      (name) => [name, (given as Values)[name]] as const,
    );
    const key = JSON.stringify(own);
    if (made.topology === undefined || made.key !== key) {
      made.topology = network.topology(Object.fromEntries(own) as OptionValues<O>);
      made.key = key;
    }
    return made.topology;
  };
  const radix = (o: object) => topologyOf(o).ports + topologyOf(o).concentration;
  const queues = (o: object) => radix(o) * topologyOf(o).channels;
  const slots = (o: object) => {
    const { ports, channels, concentration } = topologyOf(o);
    return (ports * channels + concentration) * (o as Common).buffer;
  };

  return defineModel({
    name: network.name,
    help: network.help,
    end: 10000,
    lookahead: 1,
    options: { ...common, ...network.options } as typeof common,
    lps(o: Common) {
      const { routers } = topologyOf(o);
      if (routers > MOST_LPS) throw new ModelError(`${routers} routers; at most ${MOST_LPS}`);
      const { places } = placesOf(topologyOf(o));
      if (places.length > MOST_LPS)
        throw new ModelError(`${places.length} routers and terminals; at most ${MOST_LPS}`);
      return places.length;
    },
    tables: {
      links: (o: Common) => topologyOf(o).links(),
      places: (o: Common) => placesOf(topologyOf(o)).places,
      routerLps: (o: Common) => placesOf(topologyOf(o)).routerLps,
      homes: (o: Common) => placesOf(topologyOf(o)).homes,
      firstTerminals: (o: Common) => placesOf(topologyOf(o)).firstTerminals,
      ...traceTables,
    },
    prepare: (options, { lookahead, tables, end }) =>
      paramsOf(options, topologyOf(options), tables, { lookahead, end }),
    message,
    drawing,
    typeOf: (lp: number, { places }: NetworkParams) => (places[lp] < 0 ? 'terminal' : 'router'),
    types: {
      router: {
        state: routerState({ radix, queues, slots }),
        init: initRouter,
        forward: handleRouter,
        final: finishRouter,
        instrument: linkSamples,
      },
      terminal: {
        state: terminalState((o) => Math.max(1, readTrace((o as Common).trace).receives)),
        init: initTerminal,
        forward: handleTerminal,
        final: finishTerminal,
      },
    },
  });
}
