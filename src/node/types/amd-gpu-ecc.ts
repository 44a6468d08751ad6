/**
 * `amd_gpu_ecc`: errors of AMD GPUs' memory, as their driver counts them since it was loaded; of GPUs with ECC. Source:
 * Documentation/gpu/amdgpu/ras.rst (umc: the unified memory controllers; aca_umc on newer ones).
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { FileFields, fieldsHere } from './file-fields.ts';
import { type Collector, counter, type NodeType } from './type.ts';

const FOLDER = 'sys/class/drm';
const METRICS = [
  counter('corrected', 'errors that were corrected'),
  counter('uncorrected', 'errors that could not be corrected'),
];

/** Of both files the first that a card has; null where it has none. */
function fieldsOf(tree: NodeTree, card: string) {
  if (!/^card\d+$/.test(card)) return null;
  for (const file of ['umc_err_count', 'aca_umc']) {
    const fields = METRICS.map((metric, k) => ({
      metric,
      file,
      after: [`\n${['ce', 'ue'][k]}: `],
    }));
    if (fieldsHere(tree, `${FOLDER}/${card}/device/ras`, fields).length === METRICS.length)
      return fields;
  }
  return null;
}

function open(tree: NodeTree): Collector {
  const list = () => tree.devices(FOLDER);
  if (!(list() ?? []).some((card) => fieldsOf(tree, card) !== null)) {
    throw new UnavailableError('no GPU with the driver amdgpu that counts errors of its memory');
  }
  const device = (card: string): Device | null => {
    const fields = fieldsOf(tree, card);
    if (fields === null) return null;
    const files = new FileFields(tree, `${FOLDER}/${card}/device/ras`, fields);
    const write = (writer: RawWriter) => {
      writer.record('amd_gpu_ecc', card.slice('card'.length));
      files.write(writer);
      writer.endRecord(METRICS.length);
    };
    return { write, close: () => files.close() };
  };
  return new Devices(`/${FOLDER}`, list, device);
}

export const AMD_GPU_ECC: NodeType = {
  name: 'amd_gpu_ecc',
  help: 'AMD GPUs: memory errors',
  device: 'number of the card',
  source: '/sys/class/drm/cardN/device/ras/{umc_err_count,aca_umc}',
  metrics: METRICS,
  open,
};
