/** Layout parts of pages. */

import { ChevronLeft, Search } from "lucide-react";
import { type ComponentProps, Fragment, type ReactNode, useEffect } from "react";
import { Link } from "react-router";
import { classNames } from "./class-names.ts";
import { TextInput } from "./field.tsx";
import styles from "./display.module.css";

export function Page({ children }: { readonly children: ReactNode }) {
  return <div className={styles.page}>{children}</div>;
}

export interface PageHeaderProps {
  /** Also the title of the browser tab. */
  readonly title: string;
  readonly lead?: ReactNode;
  /** A link to the list. */
  readonly back?: { readonly to: string; readonly label: string };
  readonly actions?: ReactNode;
}

export function PageHeader({ title, lead, back, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <header className={styles.header}>
      <div className={styles.headerText}>
        {back !== undefined && (
          <Link className={styles.back} to={back.to}>
            <ChevronLeft aria-hidden="true" /> {back.label}
          </Link>
        )}
        <h1 className={styles.title} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <p className={styles.lead}>{lead}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </header>
  );
}

export interface CardProps extends Omit<ComponentProps<"section">, "title"> {
  readonly title?: ReactNode;
  readonly text?: ReactNode;
  readonly actions?: ReactNode;
}

export function Card({ title, text, actions, children, className, ...rest }: CardProps) {
  return (
    <section {...rest} className={classNames(styles.card, className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className={styles.cardHead}>
          <div>
            {title !== undefined && <h2 className={styles.cardTitle}>{title}</h2>}
            {text !== undefined && <p className={styles.cardText}>{text}</p>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

export type Tone = "plain" | "good" | "bad" | "warn" | "agent" | "caller";

export function Badge({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={classNames(styles.badge, tone !== "plain" && styles[tone])}>{children}</span>;
}

/** A list of names and values. Rows with null are left out. */
export function KeyValue({
  rows,
}: {
  readonly rows: readonly (readonly [label: string, value: ReactNode])[];
}) {
  return (
    <dl className={styles.keyValue}>
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([label, value]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** Search and filters above a list. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return <div className={styles.toolbar}>{children}</div>;
}

export interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <div className={styles.search} role="search">
      <Search aria-hidden="true" />
      <TextInput
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
