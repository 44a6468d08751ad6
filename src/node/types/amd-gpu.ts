/**
 * `amd_gpu`: AMD GPUs, by their driver's files. Keys that some of a node's GPUs lack are not in the schema. Source:
 * Documentation/gpu/amdgpu/{driver-misc,thermal}.rst.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { alone, type FileField, FileFields, fieldsHere } from './file-fields.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/class/drm';
const POWER = gauge(
  'power',
  'power drawn: the average where the driver tells that, else at present',
  'uW',
);

const FILES = [
  alone(gauge('utilization', 'how busy its compute units are', '%'), 'gpu_busy_percent'),
  alone(gauge('mem_utilization', 'how busy its memory is', '%'), 'mem_busy_percent'),
  alone(gauge('memtotal', 'memory of the GPU', 'B'), 'mem_info_vram_total'),
  alone(gauge('memused', 'memory that is used', 'B'), 'mem_info_vram_used'),
  alone(gauge('gttused', 'memory of the node that it uses', 'B'), 'mem_info_gtt_used'),
];

/** What a card provides; empty if it is no AMD GPU. Its sensors are in a folder whose number is not known in advance. */
function fieldsOf(tree: NodeTree, card: string): readonly FileField[] {
  const folder = `${FOLDER}/${card}/device`;
  if (!/^card\d+$/.test(card) || tree.text(`${folder}/mem_info_vram_total`) === null) return [];
  const sensors = (tree.list(`${folder}/hwmon`) ?? []).flatMap((chip) =>
    ['average', 'input'].map((which) => alone(POWER, `hwmon/${chip}/power1_${which}`)),
  );
  return [...fieldsHere(tree, folder, FILES), ...fieldsHere(tree, folder, sensors).slice(0, 1)];
}

function open(tree: NodeTree): Collector {
  const list = () => tree.devices(FOLDER);
  const each = (list() ?? [])
    .map((card) => fieldsOf(tree, card))
    .filter(({ length }) => length > 0);
  if (each.length === 0) throw new UnavailableError('no GPU with the driver amdgpu');
  const metrics = AMD_GPU.metrics.filter((metric) =>
    each.every((fields) => fields.some((field) => field.metric === metric)),
  );
  const device = (card: string): Device | null => {
    const fields = fieldsOf(tree, card).filter(({ metric }) => metrics.includes(metric));
    if (fields.length < metrics.length) return null;
    const files = new FileFields(tree, `${FOLDER}/${card}/device`, fields);
    const write = (writer: RawWriter) => {
      writer.record('amd_gpu', card.slice('card'.length));
      files.write(writer);
      writer.endRecord(metrics.length);
    };
    return { write, close: () => files.close() };
  };
  const devices = new Devices(`/${FOLDER}`, list, device);
  return { metrics, collect: (writer) => devices.collect(writer), close: () => devices.close() };
}

export const AMD_GPU: NodeType = {
  name: 'amd_gpu',
  help: 'AMD GPUs: utilisation, memory, power',
  device: 'number of the card',
  source: '/sys/class/drm/cardN/device/*',
  metrics: [...FILES.map(({ metric }) => metric), POWER],
  open,
};
