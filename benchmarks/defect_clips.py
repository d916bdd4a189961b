"""The clips that `find_defects.py` breaks: which stretches of which files, under whose sound.

Clips are 19 to 40 s: whole films with their own sound, footage under read speech or music, and shots of several sources
joined by cuts. Nothing repeats within a clip, but for `windows` and `race`, whose sources turned out to show the same
pictures again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A stretch of one file, in seconds; `own` sound or none."""

    file: str
    start_s: float
    end_s: float
    own: bool = True


@dataclass(frozen=True)
class Recipe:
    """A clip: pictures one after the other, and read speech where they have no sound of their own."""

    fps: int
    parts: tuple[Part, ...]
    speech: tuple[str, ...] = ()

    @property
    def read(self) -> bool:
        """Whether somebody reads: music lies under some."""
        return any(name.startswith(("speech/", "more/voice")) for name in self.speech)


def _lj(*numbers: int) -> tuple[str, ...]:
    return tuple(f"speech/ljspeech/LJ001-{number:04d}.wav" for number in numbers)


DEVELOPMENT = {
    "bunny": Recipe(24, (Part("film/bbb_480p_30s.mp4", 0, 30),)),
    "fillets": Recipe(30, (Part("film/fillets_intro.mpg", 0, 33),)),
    "bottles": Recipe(30, (Part("footage/intel_bottle-detection.mp4", 0, 32, False),), _lj(1, 3, 4, 5)),
    "shots": Recipe(
        25,
        (
            Part("talking_head/jwpIntro.mp4", 0, 5.6, False),
            Part("film/bikes.mp4", 0, 9.6, False),
            Part("vlog/balle-jbart.mp4", 0, 10, False),
            Part("film/oa4_launch.webm", 0, 8, False),
        ),
        _lj(9, 10, 11, 12),
    ),
}
HELD_OUT = {
    "fillets 2": Recipe(30, (Part("film/fillets_intro.mpg", 36, 70),)),
    "faces": Recipe(
        25,
        (
            Part("talking_head/grid_bbaf2n.mpg", 0, 2.9, False),
            Part("talking_head/grid_lwbsza.mpg", 0, 2.9, False),
            Part("film/bbb_1280x720_5s_5.1.mp4", 0, 5.2, False),
            Part("talking_head/grid_sbia1a.mpg", 0, 2.9, False),
            Part("odd/mp_video_with_failing_audio.mp4", 0, 9, False),
            Part("talking_head/single_face.mp4", 0, 2.3, False),
        ),
        _lj(14, 15, 16),
    ),
    "cars": Recipe(
        25,
        (Part("footage/intel_car-detection.mp4", 0, 26, False),),
        tuple(
            f"speech/librivox/sense_and_sensibility_01_austen_64kb-{n}.wav"
            for n in ("0870", "0880", "0890", "0920", "0930")
        ),
    ),
    "medley": Recipe(
        25,
        (
            Part("odd/prores_like_mjpeg_diver.mov", 0, 13),
            Part("odd/cockatoo_yuv444_mp3.mp4", 0, 7.4),
            Part("talking_head/movie-hello_webcam_screencast.mp4", 0, 8),
            Part("film/nasa_13013.mp4", 0, 5),
        ),
    ),
}
MORE = {
    "dance": Recipe(
        24,
        (Part("film/bbb_480p_30s.mp4", 0, 30, False),),
        ("music/Hungarian_Dance_number_5_-_Allegro_in_F_sharp_minor_string_orchestra.ogg",),
    ),
    "voices": Recipe(
        25,
        (
            Part("film/bikes.mp4", 0, 9.6, False),
            Part("vlog/balle-jbart.mp4", 0, 10, False),
            Part("talking_head/jwpIntro.mp4", 0, 5.6, False),
            Part("film/oa4_launch.webm", 0, 8, False),
        ),
        (
            "speech/jfk.wav",
            "speech/cmu_arctic/arctic_aew_a0001.wav",
            "speech/common_voice_en_651325.mp3",
            "speech/cmu_arctic/arctic_axb_a0004.wav",
            "speech/ami_ES2011a_40-46s.wav",
        ),
    ),
    "bottles 2": Recipe(30, (Part("footage/intel_bottle-detection.mp4", 0, 32, False),), _lj(2, 6, 7, 8, 13)),
    "fillets": DEVELOPMENT["fillets"],
}
"""Other sounds under the development clips."""
FRESH = {
    "green": Recipe(
        30,
        (Part("talking_head/man-on-green-screen.mp4", 0, 24.3, False),),
        (
            "speech/librispeech/libri_2412-153948-0000.flac",
            "speech/librispeech/libri_2412-153948-0001.flac",
            "speech/stereo_diarization.wav",
        ),
    ),
    "windows": Recipe(
        24,
        (
            Part("odd/cinepak_win005.mkv", 0, 17.4),
            Part("talking_head/jwpIntro.mp4", 0, 5.6),
            Part("film/oa4_launch.webm", 0, 8),
        ),
    ),
    "race": Recipe(
        25,
        (Part("film/shepard_1906_frenchgp.ogv", 0, 19, False), Part("scenedetect/fades.mp4", 0, 9.9, False)),
        (
            "speech/librispeech/libri_198-209-0000.ogg",
            "speech/librispeech/libri_3436-172162-0000.ogg",
            "speech/librispeech/libri_5703-47212-0000.ogg",
        ),
    ),
    "song": Recipe(
        25,
        (
            Part("footage/intel_bottle-detection.mp4", 32, 39.8, False),
            Part("film/bbb_1280x720_5s_5.1.mp4", 0, 5.2, False),
            Part("vlog/phone_dog_VID_20191220.mp4", 0, 1.5, False),
            Part("film/fillets_intro.mpg", 33, 36, False),
            Part("odd/mp_video_with_failing_audio.mp4", 0, 9, False),
        ),
        ("music/Karissa_Hobbs_-_Lets_Go_Fishin.ogg",),
    ),
}
NEW = {
    "together": Recipe(30, (Part("more/wannaworktogether.mp4", 10, 40),)),
    "street": Recipe(10, (Part("more/vtest.avi", 0, 28, False),), ("speech/asterisk/demo-congrats.wav",)),
    "tree": Recipe(
        15,
        (Part("more/tree.avi", 0, 22, False),),
        ("speech/asterisk/demo-abouttotry.wav", "speech/asterisk/vm-instructions.wav"),
    ),
    "dinner": Recipe(
        24,
        (Part("more/Megamind.avi", 0, 11.2), Part("more/motion.mov", 0, 8), Part("more/cityCC0.mpg", 0, 7.5, False)),
    ),
    "toys": Recipe(
        12, (Part("more/play103.mkv", 0, 12), Part("more/history2.mkv", 0, 10), Part("more/play105.mkv", 0, 8.9))
    ),
    "market": Recipe(10, (Part("more/vtest.avi", 45, 75, False),), ("more/dont_wait_too_long.mkv",)),
}
"""From elsewhere (`more_media.py`), seen only after everything was chosen; looked at since."""
NEWEST = {
    "sintel": Recipe(24, (Part("more/sintel_trailer.mp4", 0, 26),)),
    "sintel 2": Recipe(24, (Part("more/sintel_trailer.mp4", 26, 51.5),)),
    "browser": Recipe(30, (Part("more/browser.mp4", 0, 30),)),
    "motorway": Recipe(30, (Part("more/motorway.mp4", 0, 28, False),), ("more/voice_it.wav",)),
    "views": Recipe(
        30, (Part("more/bridge.mp4", 0, 13, False), Part("more/tower.avi", 0, 16, False)), ("more/voice_fr.wav",)
    ),
    "webcam": Recipe(25, (Part("more/webcam.mp4", 0, 30, False),), ("more/voice_es.wav",)),
}
"""From elsewhere again, for the searches of a day later."""
SETS = {"known": {**DEVELOPMENT, **MORE, **HELD_OUT, **FRESH}, "new": NEW, "newest": NEWEST}
CLIPS = {name: recipe for recipes in SETS.values() for name, recipe in recipes.items()}
