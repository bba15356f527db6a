//! `rocshim top`: shows a screen with what the processes do now.

use super::follow::{Collectors, follow};
use crate::args;
use anyhow::{Context, Result, bail};
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};
use rocshim_analysis::{Live, LiveStats};
use rocshim_live::{Screen, Tab};
use rocshim_reader::{Follower, Poll};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Time of reading files between two updates of screen and keys.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) fn top(args: &args::Top) -> Result<ExitCode> {
    if args.listen.is_some() || args.push.is_some() {
        return super::listen::listen(args);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        bail!(
            "top draws on a terminal, and this is none: `rocshim tail` and `rocshim summary` write text, --listen serves metrics"
        );
    }
    let (traces, follower) = follow(&args.traces)?;
    let ended = Arc::new(AtomicBool::new(false));
    // SIGHUP keeps its default action: there is no terminal to restore, and crossterm would read
    // its end of file in a loop.
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, ended.clone()).context("cannot wait for signals")?;
    }
    let mut view = View {
        live: Live::default(),
        follower,
        collectors: Collectors::default(),
        stats: LiveStats::default(),
        screen: Screen {
            what: in_short(&traces),
            every: Duration::from_secs_f64(args.every),
            has_colour: super::has_colour(),
            is_behind: true,
            ..Screen::default()
        },
        begin: Instant::now(),
    };
    let mut terminal = ratatui::try_init().context("cannot draw on this terminal")?;
    let result = view.run(&mut terminal, &ended);
    ratatui::restore();
    result.map(|()| ExitCode::SUCCESS)
}

fn in_short(traces: &[PathBuf]) -> String {
    match traces {
        [one] => one.display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        [] => String::new(),
    }
}

struct View {
    live: Live,
    follower: Follower,
    collectors: Collectors,
    stats: LiveStats,
    screen: Screen,
    begin: Instant,
}

/// Action of a key.
enum Wish {
    Nothing,
    End,
    /// Suspends rocshim, as Ctrl-Z does in other programs.
    Rest,
}

impl View {
    /// Runs until the user quits.
    fn run(&mut self, terminal: &mut DefaultTerminal, ended: &AtomicBool) -> Result<()> {
        let mut next = Instant::now();
        while !ended.load(Ordering::Relaxed) {
            let more = self.read()?;
            if !more && self.screen.is_behind {
                self.screen.is_behind = false;
                self.measure();
                next = Instant::now() + self.screen.every;
            } else if Instant::now() >= next {
                if !self.screen.is_paused {
                    self.measure();
                }
                next = Instant::now() + self.screen.every;
            }
            terminal.draw(|frame| rocshim_live::draw(frame, &self.stats, &self.screen))?;
            // Reads often: a second of recording may be a hundred MiB.
            let pause = next.saturating_duration_since(Instant::now()).min(Duration::from_millis(200));
            let mut pause = if more { Duration::ZERO } else { pause };
            while event::poll(pause)? {
                pause = Duration::ZERO;
                let Event::Key(key) = event::read()? else { continue };
                match self.press(key, terminal.size()?.height.into()) {
                    Wish::End => return Ok(()),
                    Wish::Rest => *terminal = rest()?,
                    Wish::Nothing => {}
                }
            }
        }
        Ok(())
    }

    /// Reads what has arrived; returns true when more can be read at once.
    fn read(&mut self) -> Result<bool> {
        let begin = Instant::now();
        loop {
            let Poll { more, .. } = self.follower.poll(&mut self.live)?;
            if !more || begin.elapsed() > PATIENCE {
                return Ok(more);
            }
        }
    }

    fn measure(&mut self) {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let at = (!self.screen.is_behind).then(|| self.begin.elapsed().as_nanos() as u64);
        let collectors = self.collectors.ask(&self.live);
        self.stats = self.live.measure((at, unix), &collectors);
        self.screen.note = self.follower.notes().last().cloned();
    }

    fn press(&mut self, key: KeyEvent, height: usize) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Nothing;
        }
        let screen = &mut self.screen;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Wish::End,
                KeyCode::Char('z') => Wish::Rest,
                _ => Wish::Nothing,
            };
        }
        if screen.is_help {
            screen.is_help = false;
            return Wish::Nothing;
        }
        if screen.is_typing {
            match key.code {
                KeyCode::Enter => screen.is_typing = false,
                KeyCode::Esc => (screen.is_typing, screen.filter) = (false, String::new()),
                KeyCode::Backspace => drop(screen.filter.pop()),
                KeyCode::Char(letter) => screen.filter.push(letter),
                _ => {}
            }
            screen.first = 0;
            return Wish::Nothing;
        }
        let before = screen.shown;
        let page = height / 2;
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Wish::End,
            KeyCode::Char('p' | ' ') => screen.is_paused = !screen.is_paused,
            KeyCode::Char('s') => screen.sort = screen.sort.next(),
            KeyCode::Char('/') => screen.is_typing = true,
            KeyCode::Char('?' | 'h') => screen.is_help = true,
            KeyCode::Char('+') => screen.every = pace(screen.every, 0.5),
            KeyCode::Char('-') => screen.every = pace(screen.every, 2.0),
            KeyCode::Char(number @ '1'..='6') => screen.shown = Tab::ALL[number as usize - '1' as usize],
            KeyCode::Tab | KeyCode::Right => screen.shown = screen.shown.step(1),
            KeyCode::BackTab | KeyCode::Left => screen.shown = screen.shown.step(Tab::ALL.len() - 1),
            KeyCode::Down | KeyCode::Char('j') => screen.first += 1,
            KeyCode::Up | KeyCode::Char('k') => screen.first = screen.first.saturating_sub(1),
            KeyCode::PageDown => screen.first += page,
            KeyCode::PageUp => screen.first = screen.first.saturating_sub(page),
            KeyCode::Home => screen.first = 0,
            KeyCode::End => screen.first = usize::MAX,
            _ => {}
        }
        if screen.shown != before {
            screen.first = 0;
        }
        let last = rocshim_live::length(&self.stats, screen).saturating_sub(1);
        screen.first = screen.first.min(last);
        Wish::Nothing
    }
}

/// A shorter or longer interval, within the limits of the command line.
fn pace(every: Duration, by: f64) -> Duration {
    every.mul_f64(by).clamp(Duration::from_millis(100), Duration::from_secs(3600))
}

/// Restores the terminal and suspends, as other programs do at Ctrl-Z; sets it up again afterwards.
fn rest() -> Result<DefaultTerminal> {
    ratatui::restore();
    kill_process(getpid(), Signal::TSTP).context("cannot stop")?;
    ratatui::try_init().context("cannot draw on this terminal")
}
