/** Navigation: a sidebar, and on phones a bottom bar and a drawer. */

import { BookOpen, House, LogOut, Menu as MenuIcon, Moon, Sun, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { useState } from "react";
import { Link, NavLink } from "react-router";
import { BASE_URL, useSignedIn } from "../data/api.tsx";
import { GROUPS } from "../screens/screen.ts";
import { SCREENS } from "../screens/screens.ts";
import { IconButton } from "../ui/button.tsx";
import mark from "../ui/mark.svg";
import { useTheme } from "./theme.ts";
import styles from "./shell.module.css";

export function Brand() {
  return (
    <Link to="/" className={styles.brand}>
      <img src={mark} alt="" /> Parley
    </Link>
  );
}

function Links({ onGo }: { readonly onGo?: () => void }) {
  const go = onGo === undefined ? {} : { onClick: onGo };
  return (
    <nav className={styles.nav} aria-label="Screens">
      <NavLink to="/" end className={styles.link ?? ""} {...go}>
        <House aria-hidden="true" /> Home
      </NavLink>
      {GROUPS.map((group) => (
        <div key={group} className={styles.group} role="group" aria-label={group}>
          <div className={styles.groupTitle} aria-hidden="true">
            {group}
          </div>
          {SCREENS.filter((screen) => screen.group === group).map(({ noun, title, icon: Icon }) => (
            <NavLink key={noun} to={`/${noun}`} className={styles.link ?? ""} {...go}>
              <Icon aria-hidden="true" /> {title}
            </NavLink>
          ))}
        </div>
      ))}
    </nav>
  );
}

export function ThemeButton() {
  const { theme, toggle } = useTheme();
  const dark = theme === "dark";
  return (
    <IconButton
      label={dark ? "Light theme" : "Dark theme"}
      icon={dark ? <Sun aria-hidden="true" /> : <Moon aria-hidden="true" />}
      onClick={toggle}
    />
  );
}

function Foot() {
  const { account, signOut } = useSignedIn();
  return (
    <div className={styles.foot}>
      <div className={styles.account}>
        <div className={styles.accountNote}>Signed in to</div>
        {account.name}
      </div>
      <div className={styles.footRow}>
        <ThemeButton />
        <IconButton
          label="API reference"
          icon={<BookOpen aria-hidden="true" />}
          onClick={() => window.open(`${BASE_URL}/docs`, "_blank", "noopener")}
        />
        <IconButton label="Sign out" icon={<LogOut aria-hidden="true" />} onClick={() => signOut()} />
      </div>
    </div>
  );
}

export function SideBar() {
  return (
    <div className={styles.side}>
      <Brand />
      <Links />
      <Foot />
    </div>
  );
}

/** The main screens; the others are behind "More". */
const IN_BAR = ["agents", "talk", "calls"];

export function PhoneBars() {
  const [open, setOpen] = useState(false);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <div className={styles.topBar}>
        <Brand />
        <ThemeButton />
      </div>
      <nav className={styles.bottomBar} aria-label="Main screens">
        <NavLink to="/" end className={styles.tab ?? ""}>
          <House aria-hidden="true" /> Home
        </NavLink>
        {SCREENS.filter(({ noun }) => IN_BAR.includes(noun)).map(({ noun, title, icon: Icon }) => (
          <NavLink key={noun} to={`/${noun}`} className={styles.tab ?? ""}>
            <Icon aria-hidden="true" /> {title}
          </NavLink>
        ))}
        <Dialog.Trigger className={styles.tab}>
          <MenuIcon aria-hidden="true" /> More
        </Dialog.Trigger>
      </nav>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.drawerVeil} />
        <Dialog.Content className={styles.drawer} aria-describedby={undefined}>
          <div className={styles.cardHead}>
            <Dialog.Title className={styles.groupTitle}>All screens</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label="Close" icon={<X aria-hidden="true" />} />
            </Dialog.Close>
          </div>
          <Links onGo={() => setOpen(false)} />
          <Foot />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
