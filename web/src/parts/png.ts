/** A figure as PNG: its canvases, with names of rows, times and flags around them; title and sentence above. */

const MARGIN = 12;
const HEAD = 48;

const wrapped = (context: CanvasRenderingContext2D, text: string, width: number): string => {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
};

/** An SVG document as PNG. @throws Error if the browser cannot draw it */
export function pngOfSvg(svg: string): Promise<Blob> {
  const image = new Image();
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error('the picture cannot be drawn'));
    image.onerror = failed;
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = Math.ceil(image.width * devicePixelRatio);
      canvas.height = Math.ceil(image.height * devicePixelRatio);
      canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob === null ? failed() : resolve(blob)));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}

interface Key {
  /** One colour for an entity, several in a row for a scale. */
  readonly colours: readonly string[];
  readonly text: string;
}

/** The figure's legend, as on the page. */
function keysOf(figure: HTMLElement): Key[] {
  const entries = [...figure.querySelectorAll('.legend > *')];
  return entries.map((entry) => {
    const swatches = [...entry.querySelectorAll<HTMLElement | SVGElement>('i, line, rect')];
    const colours = swatches.map((one) => {
      const { backgroundColor, stroke, fill } = getComputedStyle(one);
      return one.tagName === 'line' ? stroke : one.tagName === 'rect' ? fill : backgroundColor;
    });
    const text = [...entry.childNodes]
      .filter((child) => !(child instanceof HTMLOutputElement))
      .map((child) => child.textContent ?? '')
      .join('')
      .replace(/\s+/g, ' ');
    return { colours, text: text.trim() };
  });
}

const SWATCH = 10;
const ROW = 18;

/** Where each entry of a legend is drawn, and the height of all. */
function placed(context: CanvasRenderingContext2D, keys: readonly Key[], width: number) {
  let [x, y] = [0, 0];
  const at = keys.map(({ colours, text }) => {
    const wide = colours.length * SWATCH + context.measureText(text).width + 18;
    if (x > 0 && x + wide > width) [x, y] = [0, y + ROW];
    const place = [x, y] as const;
    x += wide;
    return place;
  });
  return { at, high: keys.length === 0 ? 0 : y + ROW };
}

/** Text beside canvases. */
const TEXTS = '.labels span, .names .name, .times span';

function drawTexts(context: CanvasRenderingContext2D, texts: readonly HTMLElement[]): void {
  for (const text of texts) {
    const box = text.getBoundingClientRect();
    const { color, font, textAlign, paddingLeft } = getComputedStyle(text);
    const isRight = textAlign === 'right';
    context.fillStyle = color;
    context.font = font;
    context.textAlign = isRight ? 'right' : 'left';
    const words = wrapped(context, text.textContent?.trim() ?? '', box.width);
    const x = isRight ? box.right : box.left + Number.parseFloat(paddingLeft);
    context.fillText(words, x, box.top + box.height / 2 + 4);
  }
  context.textAlign = 'left';
}

/** Stretches, poles and flags over the field. */
function drawFlags(context: CanvasRenderingContext2D, figure: HTMLElement): void {
  for (const flag of figure.querySelectorAll<HTMLElement>('.flagged, .pole, .flag')) {
    const { left, top, width, height } = flag.getBoundingClientRect();
    const { backgroundColor, borderLeftColor, opacity } = getComputedStyle(flag);
    const kind = ['flagged', 'pole', 'flag'].find((one) => flag.classList.contains(one));
    context.globalAlpha = Number(opacity);
    context.fillStyle = kind === 'pole' ? borderLeftColor : backgroundColor;
    if (kind === 'flag') {
      const [begin, end] = flag.classList.contains('before')
        ? [left + width, left]
        : [left, left + width];
      context.beginPath();
      context.moveTo(begin, top);
      context.lineTo(end, top + height / 2);
      context.lineTo(begin, top + height);
      context.fill();
    } else context.fillRect(left, top, Math.max(1, width), height);
  }
  context.globalAlpha = 1;
}

/** @throws Error if the figure has no picture */
export function pngOf(figure: HTMLElement, title: string, sentence: string): Promise<Blob> {
  const canvases = [...figure.querySelectorAll('canvas')].filter(({ width }) => width > 0);
  if (canvases.length === 0) throw new Error(`${title}: there is no picture to save`);
  const texts = [...figure.querySelectorAll<HTMLElement>(TEXTS)];
  const boxes = [...canvases, ...texts].map((one) => one.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const ratio = devicePixelRatio;
  const made = document.createElement('canvas');
  const context = made.getContext('2d');
  if (context === null) throw new Error('this browser provides no canvas');
  const css = getComputedStyle(document.documentElement);
  const colour = (name: string) => css.getPropertyValue(name).trim();
  const small = `12px ${colour('--font')}`;
  const keys = keysOf(figure);
  context.font = small;
  const { at, high } = placed(context, keys, width);
  made.width = Math.ceil((width + 2 * MARGIN) * ratio);
  made.height = Math.ceil((height + HEAD + high + MARGIN) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = colour('--panel');
  context.fillRect(0, 0, made.width, made.height);
  context.fillStyle = colour('--text');
  context.font = `600 14px ${colour('--font')}`;
  context.fillText(wrapped(context, title, width), MARGIN, 20);
  context.fillStyle = colour('--quiet');
  context.font = small;
  context.fillText(wrapped(context, sentence, width), MARGIN, 38);
  canvases.forEach((canvas, k) => {
    const box = boxes[k];
    const [x, y] = [MARGIN + box.left - left, HEAD + box.top - top];
    context.drawImage(canvas, x, y, box.width, box.height);
  });
  context.save();
  context.translate(MARGIN - left, HEAD - top);
  drawTexts(context, texts);
  drawFlags(context, figure);
  context.restore();
  keys.forEach(({ colours, text }, k) => {
    const [x, y] = [MARGIN + at[k][0], HEAD + height + 4 + at[k][1]];
    colours.forEach((shade, n) => {
      context.fillStyle = shade;
      context.fillRect(x + n * SWATCH, y, SWATCH, SWATCH);
    });
    context.fillStyle = colour('--text');
    context.fillText(text, x + colours.length * SWATCH + 4, y + SWATCH - 1);
  });
  return new Promise((resolve, reject) =>
    made.toBlob((blob) =>
      blob === null ? reject(new Error('the PNG could not be made')) : resolve(blob),
    ),
  );
}
