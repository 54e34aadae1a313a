/** The sections of an agent's form: a list beside the form, or above it on narrow screens. */

import { CircleAlert, TriangleAlert } from "lucide-react";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "react-router";
import { Card } from "../../ui/display.tsx";
import { VisuallyHidden } from "../../ui/states.tsx";
import styles from "./section-nav.module.css";
import { type Mark, type SectionId, SECTIONS } from "./sections.ts";

export interface SectionCardProps extends Pick<ComponentProps<typeof Card>, "text" | "children"> {
  readonly id: SectionId;
}

/** A section, which a link with its fragment opens. */
export function SectionCard({ id, ...rest }: SectionCardProps) {
  const title = SECTIONS.find((section) => section.id === id)?.title ?? id;
  return <Card id={id} tabIndex={-1} className={styles.section ?? ""} title={title} {...rest} />;
}

export function SectionNav({ marks }: { readonly marks: ReadonlyMap<SectionId, Mark> }) {
  const { search, hash } = useLocation();
  const { current, pin } = useCurrentSection();
  useOpened(pin);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // On narrow screens the list is a bar; its current link is kept in sight without moving the page.
    const bar = list.current;
    const link = bar?.querySelector<HTMLElement>('[aria-current="true"]');
    if (bar === null || !link) return;
    bar.scrollTo({ left: link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2 });
  }, [current]);
  return (
    <nav className={styles.nav} aria-label="Sections">
      <ol ref={list} className={styles.list}>
        {SECTIONS.map(({ id, title }) => (
          <li key={id}>
            <Link
              to={{ search, hash: id }}
              replace={hash !== ""}
              preventScrollReset
              className={styles.link}
              {...(id === current ? { "aria-current": "true" as const } : {})}
            >
              {title}
              <MarkOf mark={marks.get(id)} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function MarkOf({ mark }: { readonly mark: Mark | undefined }) {
  if (mark === undefined) return null;
  const Icon = mark === "error" ? CircleAlert : TriangleAlert;
  return (
    <span className={mark === "error" ? styles.error : styles.warning}>
      <Icon aria-hidden="true" />
      <VisuallyHidden>{mark === "error" ? "(has errors)" : "(has warnings)"}</VisuallyHidden>
    </span>
  );
}

function sectionAt(hash: string): SectionId | null {
  return SECTIONS.find(({ id }) => `#${id}` === hash)?.id ?? null;
}

/** Moves to the section in the address, also when the same link is pressed again. */
function useOpened(pin: (id: SectionId) => void) {
  const { hash, key } = useLocation();
  useEffect(() => {
    const id = sectionAt(hash);
    const section = id === null ? null : document.getElementById(id);
    if (id === null || section === null) return;
    pin(id);
    show(id);
    // The next Tab leads to the first field of the section.
    section.focus({ preventScroll: true });
  }, [hash, key, pin]);
}

/** Does nothing where the section is there already. */
function show(id: SectionId) {
  document.getElementById(id)?.scrollIntoView({ block: "start" });
}

/** The line that a section has passed when it is the current one, from the top of the window. */
const LINE_PX = 180;

/**
 * The section that is read. A section that was opened stays the current one, and in its place while the page above it
 * grows or the router scrolls, until the user scrolls.
 */
function useCurrentSection() {
  const [current, setCurrent] = useState<SectionId>(SECTIONS[0].id);
  const pinned = useRef<SectionId | null>(null);
  const [pin] = useState(() => (id: SectionId) => {
    pinned.current = id;
    setCurrent(id);
  });
  useEffect(() => {
    const look = () => {
      if (pinned.current === null) setCurrent(shownSection());
      else show(pinned.current);
    };
    const unpin = () => {
      pinned.current = null;
    };
    const grown = new ResizeObserver(look);
    grown.observe(document.body);
    const options = { passive: true } as const;
    window.addEventListener("scroll", look, options);
    for (const event of USER_SCROLLS) window.addEventListener(event, unpin, options);
    return () => {
      grown.disconnect();
      window.removeEventListener("scroll", look);
      for (const event of USER_SCROLLS) window.removeEventListener(event, unpin);
    };
  }, []);
  return { current, pin };
}

const USER_SCROLLS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

function shownSection(): SectionId {
  const { scrollHeight } = document.documentElement;
  const isAtEnd = window.innerHeight + window.scrollY >= scrollHeight - 2;
  const passed = SECTIONS.filter(({ id }) => {
    const section = document.getElementById(id);
    return section !== null && section.getBoundingClientRect().top <= LINE_PX;
  });
  // The last sections are too short to reach the line.
  return (isAtEnd ? SECTIONS.at(-1) : passed.at(-1))?.id ?? SECTIONS[0].id;
}
